// Answers of the server by the keys of their parts, up to a number of bytes. The parts of an answer lie in one buffer, so it goes as a whole:
// the one whose last use is the longest ago first. Pure.
const kPartBytes = 200; // of a key and what holds its part

interface Answer {
  keys: string[];
  bytes: number;
}

export class AnswerCache<Part> {
  private parts = new Map<string, { part: Part; answer: Answer }>();
  private answers = new Set<Answer>(); // in the order of their last use
  bytes = 0;

  constructor(private mostBytes: number) {}

  has(key: string): boolean {
    return this.parts.has(key);
  }
  get(key: string): Part | undefined {
    const found = this.parts.get(key);
    if (!found) return undefined;
    this.answers.delete(found.answer);
    this.answers.add(found.answer);
    return found.part;
  }
  add(parts: readonly (readonly [string, Part])[], bytes: number): void {
    const answer = { keys: parts.map(([key]) => key), bytes: bytes + kPartBytes * parts.length };
    for (const [key, part] of parts) this.parts.set(key, { part, answer });
    this.answers.add(answer);
    this.bytes += answer.bytes;
    for (const oldest of this.answers) {
      if (this.bytes <= this.mostBytes || oldest === answer) break;
      this.drop(oldest);
    }
  }
  private drop(answer: Answer): void {
    this.answers.delete(answer);
    this.bytes -= answer.bytes;
    for (const key of answer.keys) if (this.parts.get(key)?.answer === answer) this.parts.delete(key);
  }
}
