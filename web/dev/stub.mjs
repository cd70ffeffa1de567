// A stand-in for `tacho view`, to work on the page without building tacho: rows and tiles of Kineto traces by the contract in src/serve/API.md,
// every figure of `analyze` from the binary. It answers slowly and knows only streams, steps, idle time and threads.
//   node dev/stub.mjs PORT TACHO TRACE...
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [port, tacho, ...paths] = process.argv.slice(2);
if (!paths.length) {
  console.error("usage: node dev/stub.mjs PORT TACHO TRACE...");
  process.exit(2);
}
const analysis = execFileSync(tacho, ["analyze", "--json", ...paths], { maxBuffer: 1 << 30 }).toString();
const figures = JSON.parse(analysis);
const palettes = {
  work: ["gemm", "moe", "attention", "comm", "norm, activation", "kv, rope", "quantize", "sampling", "elementwise", "copy", "memset, memory", "other"],
  phases: ["prefill", "decode", "mixed", "empty", "other"],
  idle: ["host-late", "in-launch-call", "launch-latency", "waiting", "queued", "in-graph", "host", "in-operator", "between-steps", "no-request", "unknown"],
  exposure: ["busy", "communication, hidden", "communication, exposed"],
  host: ["Python", "annotation", "operator", "launch", "wait", "copy", "other call"],
};
const kGroups = [["moe", 1], ["gemm", 0], ["attention", 2], ["comm", 3], ["norm", 4], ["kv_cache", 5], ["rope", 5], ["quantize", 6], ["sampling", 7], ["elementwise", 8], ["memory", 10]];
const colorOfCategory = (name) => kGroups.find(([start]) => name.startsWith(start))?.[1] ?? 11;
const hostColor = (event) =>
  event.cat === "python_function" ? 0 : event.cat === "user_annotation" ? 1 : event.cat === "cpu_op" ? 2 : /launch/i.test(event.name) ? 3 : /sync|wait/i.test(event.name) ? 4 : /memcpy/i.test(event.name) ? 5 : 6;

const ranks = paths.map((path, r) => {
  const raw = readFileSync(path);
  const events = JSON.parse((raw[0] === 0x1f ? gunzipSync(raw) : raw).toString()).traceEvents.filter((event) => event.ph === "X");
  const of = figures.traces[r];
  const zero = of.span.first_ns;
  const ns = (us) => Math.round(Number(us) * 1000);
  const first = Math.min(...events.map((event) => Number(event.ts)));
  const names = [], ids = new Map();
  const id = (name) => {
    if (!ids.has(name)) ids.set(name, names.push(name) - 1);
    return ids.get(name);
  };
  const category = new Map(of.kernels.map((kernel) => [kernel.name, colorOfCategory(kernel.category)]));
  const rows = [];
  const row = (kind, group, owner, label, palette, slices) => {
    slices.sort((a, b) => a.from - b.from || b.to - a.to);
    const ends = [];
    let nest = [];
    for (const slice of slices) {
      nest = nest.filter((outer) => outer.to > slice.from);
      const parent = nest.at(-1);
      let lane = parent ? parent.lane + 1 : 0;
      while ((ends[lane] ?? -Infinity) > slice.from) ++lane;
      slice.lane = lane;
      slice.parent = parent;
      ends[lane] = Math.max(slice.to, slice.from + 1);
      if (kind === "thread") nest.push(slice);
    }
    const lanes = Array.from({ length: ends.length }, () => []);
    for (const slice of slices) slice.place = lanes[slice.lane].push(slice) - 1;
    rows.push({ kind, group, owner, label, palette, lanes, slices });
  };
  const slice = (event, color) => ({ from: ns(event.ts - first), to: ns(event.ts - first) + ns(event.dur ?? 0), name: id(String(event.name)), color, event });
  const made = (from, to, name, color) => ({ from, to, name: id(name), color });
  const steps = (of.steps?.list ?? []).map((step) => made(step.start_ns - zero, step.start_ns - zero + step.dur_ns, `${step.phase} ${step.context_tokens ?? ""} tokens`, palettes.phases.indexOf(step.phase)));
  row("steps", "computed", "", "Steps", "phases", steps);
  const work = events.filter((event) => /^(kernel|gpu_mem)/.test(event.cat ?? ""));
  const busy = [];
  for (const event of work.map((event) => slice(event, 0)).sort((a, b) => a.from - b.from)) {
    if (busy.length && event.from <= busy.at(-1).to) busy.at(-1).to = Math.max(busy.at(-1).to, event.to);
    else busy.push(made(event.from, event.to, "busy", 0));
  }
  row("idle", "computed", "GPU 0", "Idle", "idle", busy.slice(1).map((after, i) => made(busy[i].to, after.from, i % 5 === 4 ? "in-launch-call" : "host-late", i % 5 === 4 ? 1 : 0)));
  row("busy", "computed", "GPU 0", "Busy", "exposure", busy);
  row("communication", "computed", "GPU 0", "Communication", "exposure", work.filter((event) => category.get(event.name) === 3).map((event) => slice(event, 2)));
  for (const stream of new Set(work.map((event) => event.args?.stream ?? event.tid)))
    row("stream", "streams", "GPU 0", String(stream), "work", work.filter((event) => (event.args?.stream ?? event.tid) === stream).map((event) => slice(event, event.cat === "kernel" ? (category.get(event.name) ?? 11) : 9)));
  const host = events.filter((event) => /^(cpu_op|user_annotation|cuda_|python_function|hip)/.test(event.cat ?? ""));
  for (const thread of new Set(host.map((event) => `${event.pid}/${event.tid}`))) {
    const own = host.filter((event) => `${event.pid}/${event.tid}` === thread);
    row("thread", own.some((event) => /launch/i.test(event.name)) ? "launching" : "other", `process ${thread.split("/")[0]}`, thread.split("/")[1], "host", own.map((event) => slice(event, hostColor(event))));
  }
  return { path, of, zero, names, rows, gaps: rows[1].slices, steps, span: { from_ns: 0, to_ns: of.span.last_ns - zero } };
});

const labelOf = (rank, r) => rank.of.identity?.name ?? `rank ${r}`;
const metaOf = () => ({
  tacho: figures.tacho,
  title: paths.length > 1 ? paths[0].replace(/\/[^/]*$/, "") : paths[0],
  clock: { shared: true, residual_ns: 850 },
  span: { from_ns: 0, to_ns: Math.max(...ranks.map((rank) => rank.span.to_ns)) },
  read: { traces: ranks.length, read: ranks.length, failed: 0, stored_bytes: 1, read_bytes: 1 },
  palettes: Object.fromEntries(Object.entries(palettes).map(([key, names]) => [key, names.map((name, color) => ({ name, color }))])),
  categories: Object.fromEntries(figures.traces.flatMap((trace) => trace.categories.map(({ category }) => [category, colorOfCategory(category)]))),
  ranks: ranks.map((rank, r) => ({
    path: rank.path, label: labelOf(rank, r), state: "read", span: rank.span, offset_ns: -rank.zero, names: rank.names.length,
    slices: rank.rows.reduce((sum, row) => sum + row.slices.length, 0), notes: rank.of.notes,
    rows: rank.rows.map((row) => ({ ...row, lanes: row.lanes.length, slices: row.slices.length, ...(row.slices.length ? {} : { lacks: "nothing of this kind was recorded" }) })),
  })),
  steps: ranks.flatMap((rank, r) => rank.steps.map((step, i) => ({ rank: r, number: i + 1, phase: palettes.phases[step.color], from_ns: step.from, to_ns: step.to, ...rank.of.steps.list[i] }))),
  gaps: ranks.flatMap((rank, r) => rank.gaps.map((gap) => ({ rank: r, device: "0", from_ns: gap.from, to_ns: gap.to, cause: rank.names[gap.name] }))).sort((a, b) => b.to_ns - b.from_ns - a.to_ns + a.from_ns).slice(0, 100),
});

function tiles(query) {
  const rank = ranks[query.get("rank")];
  const [from, width, columns] = ["from", "width", "columns"].map((key) => Number(query.get(key)));
  const lanes = query.get("rows").split(",").flatMap((row) => rank.rows[row].lanes.map((lane, i) => ({ number: (row << 16) | i, lane })));
  const end = from + width * columns;
  const parts = lanes.map(({ number, lane }) => {
    const inside = lane.filter((slice) => slice.to >= from && slice.from < end);
    if (inside.length <= columns) {
      const bytes = Buffer.alloc(32 * inside.length);
      inside.forEach((slice, i) => {
        bytes.writeDoubleLE(slice.from - from, 32 * i);
        bytes.writeDoubleLE(slice.to - slice.from, 32 * i + 8);
        bytes.writeUInt32LE(slice.place, 32 * i + 16);
        bytes.writeUInt32LE(slice.name, 32 * i + 20);
        bytes.writeUInt8(slice.color, 32 * i + 24);
      });
      return { number, mode: 1, n: inside.length, bytes };
    }
    const buckets = new Map();
    for (const slice of inside) {
      for (let column = Math.max(0, Math.floor((slice.from - from) / width)); column < columns && from + column * width < Math.max(slice.to, slice.from + 1); ++column) {
        const of = buckets.get(column) ?? { count: 0, busy: 0, longest: slice, color: slice.color };
        ++of.count;
        of.busy += Math.min(slice.to, from + (column + 1) * width) - Math.max(slice.from, from + column * width);
        if (slice.to - slice.from > of.longest.to - of.longest.from) [of.longest, of.color] = [slice, slice.color];
        buckets.set(column, of);
      }
    }
    const bytes = Buffer.alloc(16 * buckets.size);
    [...buckets].sort((a, b) => a[0] - b[0]).forEach(([column, of], i) => {
      bytes.writeUInt16LE(column, 16 * i);
      bytes.writeUInt8(of.color, 16 * i + 2);
      bytes.writeUInt8(Math.max(1, Math.min(255, Math.round((255 * of.busy) / width))), 16 * i + 3);
      bytes.writeUInt32LE(of.count, 16 * i + 4);
      bytes.writeUInt32LE(of.longest.place, 16 * i + 8);
      bytes.writeUInt32LE(of.longest.name, 16 * i + 12);
    });
    return { number, mode: 0, n: buckets.size, bytes };
  });
  const head = Buffer.alloc(8 + 16 * parts.length);
  head.writeUInt32LE(0x656c6974, 0);
  head.writeUInt16LE(1, 4);
  head.writeUInt16LE(parts.length, 6);
  let offset = head.length;
  parts.forEach(({ number, mode, n, bytes }, i) => {
    head.writeUInt32LE(number, 8 + 16 * i);
    head.writeUInt8(mode, 12 + 16 * i);
    head.writeUInt32LE(n, 16 + 16 * i);
    head.writeUInt32LE(offset, 20 + 16 * i);
    offset += bytes.length;
  });
  return Buffer.concat([head, ...parts.map((part) => part.bytes)]);
}

const atOf = (r, row, slice) => ({ rank: r, row, lane: slice.lane, place: slice.place, from_ns: slice.from, to_ns: slice.to });
function sliceOf(r, row, slice) {
  const rank = ranks[r];
  const stack = [];
  for (let outer = slice.parent; outer; outer = outer.parent) stack.unshift({ name: rank.names[outer.name], at: atOf(r, row, outer) });
  const key = slice.event?.args?.correlation;
  const other = key === undefined ? [] : rank.rows.flatMap((of, i) => of.slices.filter((one) => one !== slice && one.event?.args?.correlation === key).map((one) => ({ name: rank.names[one.name], at: atOf(r, i, one) })));
  const kernel = rank.rows[row].kind === "stream";
  return {
    ...atOf(r, row, slice), name: rank.names[slice.name], kind: kernel ? "kernel" : rank.rows[row].kind, stack,
    args: Object.entries(slice.event?.args ?? {}).map(([key, value]) => ({ key, value: JSON.stringify(value) })),
    ...(kernel && other[0] ? { launch: { ...other[0], delay_ns: slice.from - other[0].at.to_ns } } : { launched: other.filter(({ at }) => rank.rows[at.row].kind === "stream"), launched_count: other.length }),
  };
}
function selection(from, to) {
  const found = new Map(), colors = new Map(), idle = new Map();
  ranks.forEach((rank, r) =>
    rank.rows.forEach((row, i) => {
      for (const slice of row.slices) {
        const part = Math.min(slice.to, to) - Math.max(slice.from, from);
        if (slice.to < from || slice.from >= to) continue;
        if (row.kind === "idle" || row.kind === "busy") {
          const cause = row.kind === "busy" ? "busy" : rank.names[slice.name];
          const of = idle.get(`${r}${cause}`) ?? { rank: r, device: "0", cause, total_ns: 0, count: 0 };
          idle.set(`${r}${cause}`, { ...of, total_ns: of.total_ns + part, count: of.count + 1 });
        }
        if (row.kind !== "stream" && row.kind !== "thread") continue;
        const key = `${row.palette}${rank.names[slice.name]}`;
        const of = found.get(key) ?? { name: rank.names[slice.name], kind: row.kind === "stream" ? "kernel" : "operator", palette: row.palette, color: slice.color, count: 0, total_ns: 0, longest_ns: 0 };
        ++of.count;
        of.total_ns += part;
        if (slice.to - slice.from >= of.longest_ns) [of.longest_ns, of.longest_at] = [slice.to - slice.from, atOf(r, i, slice)];
        found.set(key, of);
        const color = `${row.palette}${slice.color}`;
        colors.set(color, { palette: row.palette, color: slice.color, total_ns: (colors.get(color)?.total_ns ?? 0) + part });
      }
    }),
  );
  return { from_ns: from, to_ns: to, names: [...found.values()].sort((a, b) => b.total_ns - a.total_ns), colors: [...colors.values()], steps: 1, idle: [...idle.values()] };
}
function flame(query) {
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const nodes = [["", 0, 0, 0, 0, 0]], byKey = new Map();
  const rank = ranks[query.get("rank")];
  for (const slice of rank.rows[query.get("row")].slices) {
    const part = Math.min(slice.to, to) - Math.max(slice.from, from);
    if (part <= 0) continue;
    const parent = slice.parent?.node ?? 0;
    const key = `${parent}/${slice.name}`;
    if (!byKey.has(key)) byKey.set(key, nodes.push([rank.names[slice.name], slice.color, parent, 0, 0, 0]) - 1);
    slice.node = byKey.get(key);
    const node = nodes[slice.node];
    ++node[3];
    node[4] += part;
    node[5] += part;
    if (parent) nodes[parent][5] -= part;
    else nodes[0][4] += part;
  }
  return { nodes };
}
const questions = ["Can this trace be trusted?", "Is the device idle, and why?", "Host or device bound?", "How long is a step?", "Which kernels own the time?", "Did graphs run?", "Is communication exposed?", "Do the ranks agree?", "What changed?", "What first?", "Where does a kernel come from?", "Near the limit?", "Where does the host wait?", "What was the load?", "Is the work regular?"];
const summary = () => ({
  verdict: figures.verdict.text, caveat: figures.verdict.caveat, trust: "no event lost · 100.0 % of GPU work linked to a launch",
  answers: questions.map((question, i) => i % 4 === 3 ? { id: `q${i}`, question, cannot_tell: "only one run was read" } : { id: `q${i}`, question, figure: `${(i * 7.3).toFixed(1)} %`, of: "the window of 84.5 ms", share: (i * 7.3) / 100, sentence: "The sentence that answers this question in words that fit two lines or so.", at: { rank: 0, from_ns: 2e7, to_ns: 2.2e7 } }),
});

const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  const query = url.searchParams;
  const json = (of, status = 200) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(typeof of === "string" ? of : JSON.stringify(of));
  };
  const lookup = () => ranks[query.get("rank")].rows[query.get("row")];
  response.setHeader("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'");
  switch (url.pathname.replace("/api/v1/", "")) {
    case "meta": return json(metaOf());
    case "summary": return json(summary());
    case "analysis": return json(analysis);
    case "names": return json({ first: Number(query.get("from")), names: ranks[query.get("rank")].names.slice(query.get("from"), Number(query.get("from")) + 5000) });
    case "tiles": return response.end(tiles(query));
    case "selection": return json(selection(Number(query.get("from")), Number(query.get("to"))));
    case "flame": return json(flame(query));
    case "marks": return json({ marks: [] });
    case "slice": {
      const slice = lookup().lanes[query.get("lane")]?.[query.get("place")];
      return slice ? json(sliceOf(Number(query.get("rank")), Number(query.get("row")), slice)) : json({ error: "no such slice" }, 404);
    }
    case "at": {
      const t = Number(query.get("t"));
      const of = lookup().slices.filter((slice) => slice.from <= t && slice.to >= t && (!query.has("lane") || slice.lane === Number(query.get("lane")))).at(-1) ?? lookup().slices[0];
      return of ? json(sliceOf(Number(query.get("rank")), Number(query.get("row")), of)) : json({ error: "empty" }, 404);
    }
    case "search": {
      const q = query.get("q").toLowerCase();
      const hits = selection(-1e15, 1e15).names.filter((row) => row.name.toLowerCase().includes(q));
      return json({ total: hits.reduce((sum, row) => sum + row.count, 0), names: hits.slice(0, query.get("most")).map((row) => ({ name: row.name, count: row.count, at: row.longest_at })) });
    }
    default: {
      const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
      if (!/^[a-z]+\.(html|js|css|svg)$/.test(name)) return json({ error: "the stub does not know this" }, 404);
      response.setHeader("Content-Type", types[name.split(".")[1]]);
      return response.end(readFileSync(new URL(`../dist/${name}`, import.meta.url)));
    }
  }
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
