import net from "node:net";
import tls from "node:tls";
import { once } from "node:events";
import { certificateScene } from "./certificate-scene.ts";
for (const kind of ["main", "proxy", "mtls-raw", "mtls-secured", "mtls-half-request"]) {
  const scene = await certificateScene("");
  const url = kind === "main" ? scene.running.baseUrl : kind === "proxy" ? scene.listeners.proxyUrl : scene.listeners.mtlsUrl;
  const port = Number(new URL(url).port);
  const secure = kind.startsWith("mtls-") && kind !== "mtls-raw";
  const c = secure ? tls.connect({ host: "127.0.0.1", port, ca: scene.listeners.own.cert }) : net.connect(port, "127.0.0.1");
  c.on("error", () => {}); await once(c, secure ? "secureConnect" : "connect");
  if (kind === "mtls-half-request") c.write("GET / HTTP/1.1\r\nHo");
  await new Promise((r) => setTimeout(r, 100));
  const t0 = Date.now(); const cut = setTimeout(() => { console.log(kind, "still open after 14 s"); c.destroy(); }, 14000);
  await scene.close(); clearTimeout(cut); console.log(kind, "closed in", Date.now() - t0); c.destroy();
}
