/** The table of stacks, by the name that `--for` and the console use. */
import { generic, mcp } from "./generic-stacks.ts";
import { argocd, dex, gitlab, grafana, keycloak, kubernetes } from "./infrastructure-stacks.ts";
import { angular, authjs, express, nextjs, react, vue } from "./javascript-stacks.ts";
import { apache, oauth2Proxy } from "./proxy-stacks.ts";
import { allauth, authlib, django, fastapi } from "./python-stacks.ts";
import type { Stack } from "./stack.ts";
import { dotnet, go, php, rails, rust, spring } from "./web-stacks.ts";

export const stacks = {
  generic,
  nextjs,
  authjs,
  express,
  react,
  vue,
  angular,
  spring,
  django,
  allauth,
  authlib,
  fastapi,
  go,
  rust,
  rails,
  dotnet,
  php,
  "oauth2-proxy": oauth2Proxy,
  apache,
  grafana,
  gitlab,
  argocd,
  kubernetes,
  dex,
  keycloak,
  mcp,
} as const satisfies Readonly<Record<string, Stack>>;

export type StackName = keyof typeof stacks;
export const stackNames = Object.keys(stacks) as StackName[];

export const isStackName = (text: string | undefined): text is StackName =>
  text !== undefined && Object.hasOwn(stacks, text);
