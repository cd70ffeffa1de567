// Where the boxes of an icicle lie. Pure.
import type { FlameRow } from "./types";

export interface FlameBox {
  node: number;
  depth: number;
  x: number;
  width: number;
}
// The boxes below `root`, and those around it as whole lines above; none narrower than `least` pixels. Children lie in the order of their
// time, longest first. Parents come before their children in `nodes`.
// `inOrder`: children lie as they come instead.
export function flameBoxes(nodes: readonly FlameRow[], root: number, width: number, least: number, inOrder = false): FlameBox[] {
  if (nodes.length === 0) return [];
  const children = new Map<number, number[]>();
  nodes.forEach(([, , parent], i) => {
    if (i === 0) return;
    const of = children.get(parent);
    if (of) of.push(i);
    else children.set(parent, [i]);
  });
  const boxes: FlameBox[] = [];
  const above: number[] = [];
  for (let node = root; ; node = nodes[node]?.[2] ?? 0) {
    above.unshift(node);
    if (node === 0) break;
  }
  above.forEach((node, depth) => boxes.push({ node, depth, x: 0, width }));
  const total = (node: number) => nodes[node]?.[4] ?? 0;
  const scale = total(root) > 0 ? width / total(root) : 0;
  const open = [{ node: root, depth: above.length - 1, x: 0 }];
  for (let at = open.pop(); at; at = open.pop()) {
    let x = at.x;
    for (const child of [...(children.get(at.node) ?? [])].sort((a, b) => (inOrder ? a - b : total(b) - total(a)))) {
      const wide = total(child) * scale;
      if (wide < least) continue;
      boxes.push({ node: child, depth: at.depth + 1, x, width: wide });
      open.push({ node: child, depth: at.depth + 1, x });
      x += wide;
    }
  }
  return boxes;
}
// What a box of a layer is labelled with, longest first.
export function layerLabels(name: string): string[] {
  return [name, name.replace(/^layer (?=\d+$)/, "")];
}
