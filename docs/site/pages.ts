/** Which Markdown of this repository is a page of the site, and where: quick starts first. */

/** A file of the repository and its place in the site, both without the ending. */
export type Page = readonly [file: string, place: string];

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly Page[];
}

const guides = [
  "nextjs",
  "authjs",
  "react",
  "vue",
  "nuxt",
  "express",
  "fastify",
  "hono",
  "passport",
  "fastapi",
  "python-api",
  "django",
  "go",
  "go-api",
  "go-cli",
  "spring",
  "rust",
  "apache",
  "oauth2-proxy",
  "nginx",
  "keycloak",
  "dex",
  "kubernetes",
  "grafana",
  "gitlab",
  "dotnet",
  "php",
];
const same = (...files: readonly string[]): readonly Page[] => files.map((file) => [`docs/${file}`, file]);

export const groups: readonly PageGroup[] = [
  {
    title: "Quick starts",
    pages: [
      ["guides/README", "guides/index"],
      ...guides.map((name): Page => [`guides/${name}/README`, `guides/${name}`]),
      ["docs/stacks", "stacks"],
      ["examples/README", "examples"],
    ],
  },
  {
    title: "Client SDK",
    pages: [
      ["docs/sdk/README", "sdk/index"],
      ...same("sdk/web-app", "sdk/nextjs", "sdk/react", "sdk/api", "sdk/organisations", "sdk/testing"),
      ...same(
        "sdk/machine-to-machine",
        "sdk/device",
        "sdk/backchannel",
        "sdk/system-account",
        "sdk/configuration",
        "sdk/errors",
      ),
      ...same("sdk/fapi", "sdk/sovereign", "sdk/ledger", "sdk/several-instances", "sdk/other-providers"),
      ...same("sdk/legacy-web-app", "sdk/migration"),
    ],
  },
  {
    title: "Features",
    pages: same(
      ...["connections", "provisioning", "sign-up", "shared-applications", "webhooks", "fapi", "mcp"],
      ...["device-identity", "device-client", "signing-agent"],
    ),
  },
  { title: "Running it", pages: same("install", "operations", "scaling", "security", "benchmarks") },
  { title: "How it works", pages: same("architecture", "openid-behaviours", "glossary") },
  {
    title: "SDK reference",
    pages: [
      ["docs/sdk/reference/README", "sdk/reference/index"],
      ...same("sdk/reference/client-sdk", "sdk/reference/express", "sdk/reference/fastify"),
      ...same("sdk/reference/hono", "sdk/reference/node", "sdk/reference/webhooks", "sdk/reference/react"),
      ...same("sdk/reference/nextjs", "sdk/reference/nextjs-middleware", "sdk/reference/nextjs-route"),
      ...same("sdk/reference/nextjs-pages", "sdk/reference/testing", "sdk/reference/api"),
      ...same("sdk/reference/management", "sdk/reference/legacy-api"),
    ],
  },
];

export const pages: readonly Page[] = groups.flatMap((group) => group.pages);

/** In a folder the page `index` has the folder's address. */
export const addressOf = (place: string): string => `/${place.replace(/(^|\/)index$/, "$1")}`;
