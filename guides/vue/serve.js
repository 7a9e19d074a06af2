// Bundles the application and serves it: any bundler and any server of files does.
import { createServer } from "node:http";
import { build } from "esbuild";

const { PORT = "3000" } = process.env;
const { outputFiles } = await build({
  ...{ entryPoints: ["app.js"], bundle: true, format: "esm", write: false },
  define: { "process.env.NODE_ENV": '"production"' },
});
const page = `<!doctype html><html lang="en"><title>Guide</title><link rel="icon" href="data:,"><h1>Guide</h1><div id="root"></div>
<script type="module" src="/app.js"></script></html>`;

createServer(({ url }, response) => {
  const isScript = url === "/app.js";
  response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
  response.end(isScript ? outputFiles[0].contents : page);
}).listen(Number(PORT), "localhost");
