// The server of the page. All addresses are relative: a proxy may put the page below any path.
import { signal } from "@preact/signals";

export class ServerError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}
export const serverGone = signal(false);

async function answerOf(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (init?.signal?.aborted) throw error;
    serverGone.value = true;
    throw new ServerError(0, "the server does not answer: is `tacho view` still running?");
  }
  serverGone.value = false;
  if (response.ok) return response;
  let said = response.status === 401 ? "not signed in: open the address with `?token=` that `tacho view` printed" : `the server answered ${response.status}`;
  try {
    const body = (await response.json()) as { error?: unknown };
    if (typeof body.error === "string") said = body.error;
  } catch {
    // Then the status says it.
  }
  throw new ServerError(response.status, said);
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await answerOf(path, signal ? { signal } : {})).json()) as T;
}
export async function getBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await answerOf(path, signal ? { signal } : {})).arrayBuffer();
}
// With the tag that putJson sends, so that it fails with 412 where somebody else has changed what is there.
export async function getTagged<T>(path: string): Promise<{ of: T; tag: string }> {
  const response = await answerOf(path);
  return { of: (await response.json()) as T, tag: response.headers.get("ETag") ?? "*" };
}
export async function putJson(path: string, body: unknown, tag: string): Promise<void> {
  await answerOf(path, { method: "PUT", headers: { "Content-Type": "application/json", "If-Match": tag }, body: JSON.stringify(body) });
}
