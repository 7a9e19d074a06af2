/** What the gallery offers: the stacks of core/stacks, programs with the client SDK, and kinds of applications. */
import { type ApplicationKind, applicationKinds } from "../../../core/applications/kinds.ts";
import { type StackName, stackNames, stacks } from "../../../core/stacks/stacks.ts";

export const galleryGroups = ["web", "spa", "native", "machine", "infrastructure"] as const;
export type GalleryGroup = (typeof galleryGroups)[number];

/** A program of code-snippets.ts for an application of this kind. */
type Sample = { readonly kind: ApplicationKind; readonly snippet: string };

const SDK = "Signet SDK";
const samples = {
  fastify: { title: "Fastify", library: SDK, kind: "web", snippet: "fastify" },
  "express-sdk": { title: "Express", library: SDK, kind: "web", snippet: "express" },
  hono: { title: "Hono", library: SDK, kind: "web", snippet: "hono" },
  "bun-deno": { title: "Bun, Deno", library: SDK, kind: "web", snippet: "web" },
  javascript: { title: "JavaScript", library: "fetch, Web Crypto", kind: "spa", snippet: "browser" },
  cli: { title: "CLI", library: "RFC 8628", kind: "device", snippet: "device" },
} as const satisfies Readonly<Record<string, Sample & { title: string; library: string }>>;
type SampleName = keyof typeof samples;

export type GalleryName = StackName | SampleName | ApplicationKind;

/** Each name once; the first of a group stands first. */
const groups: Readonly<Record<GalleryGroup, readonly GalleryName[]>> = {
  web: [
    ...(["nextjs", "express", "express-sdk", "fastify", "hono", "authjs", "bun-deno"] as const),
    ...([
      "django",
      "allauth",
      "fastapi",
      "authlib",
      "go",
      "spring",
      "dotnet",
      "php",
      "rails",
      "rust",
    ] as const),
    ...(["generic", "web", "legacy"] as const),
  ],
  spa: ["react", "vue", "angular", "javascript", "spa"],
  native: ["cli", "native", "device"],
  machine: ["service", "mcp"],
  infrastructure: [
    ...(["oauth2-proxy", "apache", "kubernetes", "grafana", "gitlab", "argocd", "dex", "keycloak"] as const),
  ],
};

/** What people search for and the title doesn't say. */
const searchWords: Readonly<Partial<Record<GalleryName, string>>> = {
  ...{ nextjs: "javascript typescript", react: "vite spa", vue: "vite spa", angular: "spa" },
  ...{ express: "node", "express-sdk": "node", fastify: "node", hono: "cloudflare workers edge" },
  ...{ authjs: "sveltekit solidstart qwik", spring: "java kotlin", dotnet: "c# .net blazor", rails: "ruby" },
  ...{ go: "golang", php: "laravel symfony", generic: "oidc any library", cli: "command line terminal" },
  ...{ django: "python", allauth: "python", fastapi: "python", authlib: "python" },
  ...{ service: "client credentials backend api m2m", native: "ios android electron mobile desktop" },
  ...{ mcp: "ai agents llm claude", "oauth2-proxy": "nginx traefik ingress", kubernetes: "kubectl k8s" },
};

export type GalleryEntry = {
  readonly name: GalleryName;
  /** Undefined for a kind, which is named in the reader's language. */
  readonly title?: string;
  /** That the program uses. */
  readonly library?: string;
  readonly words?: string;
} & (
  | { readonly stack: StackName; readonly kind?: undefined }
  | { readonly stack?: undefined; readonly kind: ApplicationKind; readonly snippet?: string }
);

export const isGalleryName = (text: string | undefined): text is GalleryName =>
  text !== undefined &&
  (Object.hasOwn(stacks, text) ||
    Object.hasOwn(samples, text) ||
    applicationKinds.some((kind) => kind === text));

export function galleryEntry(name: GalleryName): GalleryEntry {
  const words = searchWords[name] === undefined ? {} : { words: searchWords[name] };
  const stack = stackNames.find((one) => one === name);
  if (stack !== undefined) return { name, ...words, stack, ...splitTitle(stacks[stack].title) };
  if (Object.hasOwn(samples, name)) return { name, ...words, ...samples[name as SampleName] };
  return { name, ...words, kind: name as ApplicationKind };
}

export const entriesOf = (group: GalleryGroup): GalleryEntry[] => groups[group].map(galleryEntry);

/** `Next.js (Auth.js)` */
function splitTitle(title: string): { title: string; library?: string } {
  const [, name, library] = /^(.+?) \((.+)\)$/.exec(title) ?? [];
  return name === undefined || library === undefined ? { title } : { title: name, library };
}
