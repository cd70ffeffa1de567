// Builds the page into dist/, the same bytes from the same sources. --tests: builds the unit tests into build/test/ instead.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { gzipSync } from "node:zlib";

const kMostGzippedBytes = 90_000;
const kInDist = ["index.html", "app.js", "app.css", "favicon.svg"];
process.chdir(import.meta.dirname ?? new URL(".", import.meta.url).pathname);

const common = {
  bundle: true,
  target: ["chrome108", "firefox115", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  logLevel: "warning",
};

if (process.argv.includes("--tests")) {
  rmSync("build/test", { recursive: true, force: true });
  await build({
    ...common,
    target: "node18",
    platform: "node",
    format: "esm",
    entryPoints: readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`),
    outdir: "build/test",
    outExtension: { ".js": ".mjs" },
  });
} else {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist");
  await build({
    ...common,
    minify: true,
    format: "iife",
    legalComments: "none",
    entryPoints: { app: "src/main.tsx" },
    outdir: "dist",
  });
  for (const name of ["index.html", "favicon.svg"]) copyFileSync(`src/${name}`, `dist/${name}`);
  const sizes = kInDist.map((name) => gzipSync(readFileSync(`dist/${name}`), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`${kInDist.map((name, i) => `${name} ${sizes[i]}`).join(", ")}: ${total} bytes gzipped`);
  if (total > kMostGzippedBytes) {
    console.error(`more than ${kMostGzippedBytes} bytes`);
    process.exit(1);
  }
}
