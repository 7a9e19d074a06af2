// An application that knows nothing of OpenID Connect: Apache tells it who is signed in. See README.md.
import { createServer } from "node:http";

const { PORT = "3000", APP_PORT = "8000" } = process.env;
const home = `http://localhost:${PORT}/`;

const escaped = (text) => String(text ?? "").replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function page(headers) {
  const facts = {
    name: headers.oidc_claim_name,
    email: headers.oidc_claim_email,
    // Several are separated by commas.
    roles: headers.oidc_claim_roles,
    org: headers.oidc_claim_iss.split("/").at(-1),
    token: headers.oidc_access_token.slice(-8),
  };
  const list = Object.entries(facts).map(([term, text]) => `<dt>${term}</dt><dd>${escaped(text)}</dd>`);
  return `<dl>${list.join("")}</dl><a id="refresh" href="/secure/refresh">Renew the token</a>
<a id="sign-out" href="/secure/redirect_uri?${escaped(new URLSearchParams({ logout: home }))}">Sign out</a>`;
}

/** mod_auth_openidc renews the token where its redirect URI is told the one that it gave out. */
const renewal = (headers) =>
  `/secure/redirect_uri?${new URLSearchParams({ refresh: `${home}secure/`, access_token: headers.oidc_access_token })}`;

createServer(({ url, headers }, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  // Only below /secure/ do these headers come from Apache: elsewhere a browser may send them.
  if (url === "/secure/") return response.end(page(headers));
  if (url === "/secure/refresh") return response.writeHead(303, { location: renewal(headers) }).end();
  response.end('<p><a id="sign-in" href="/secure/">Sign in</a></p>');
}).listen(Number(APP_PORT), "127.0.0.1");
