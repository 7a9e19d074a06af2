// An application that signs nobody in: nginx asks oauth2-proxy, and hands on its ID token. See README.md.
import { createServer } from "node:http";

const { PORT = "3000", APP_PORT = "8000" } = process.env;
const home = `http://localhost:${PORT}/`;

const escaped = (text) => String(text ?? "").replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The claims of the ID token. oauth2-proxy has verified it, and nobody else reaches this application. */
function claimsOf(headers) {
  const [, payload] = headers.authorization.split(".");
  return JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}

function page(headers) {
  const { name, email, roles = [], iss } = claimsOf(headers);
  const facts = {
    name,
    email,
    roles: roles.join(", "),
    org: iss.split("/").at(-1),
    token: headers["x-forwarded-access-token"].slice(-8),
  };
  const list = Object.entries(facts).map(([term, text]) => `<dt>${term}</dt><dd>${escaped(text)}</dd>`);
  return `<dl>${list.join("")}</dl><a id="sign-out" href="/secure/sign-out">Sign out</a>`;
}

/** The proxy ends its own session and leads to Signet's sign-out, which the ID token spares its question, and back. */
function signOut(headers) {
  const idToken = headers.authorization.replace("Bearer ", "");
  const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: home });
  return `/oauth2/sign_out?${new URLSearchParams({ rd: `${claimsOf(headers).iss}/end_session?${query}` })}`;
}

createServer(({ url, headers }, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  // Only below /secure/ do these headers come from nginx: elsewhere a browser may send them.
  if (url === "/secure/") return response.end(page(headers));
  if (url === "/secure/sign-out") return response.writeHead(303, { location: signOut(headers) }).end();
  response.end('<p><a id="sign-in" href="/oauth2/start?rd=/secure/">Sign in</a></p>');
}).listen(Number(APP_PORT), "127.0.0.1");
