/**
 * Which forms of the console and of the account pages a file's journeys have sent, and the server has taken: each file's last
 * test asks whether every form of its area is among them, so that a new form without a journey is found.
 */
import type { BrowserContext } from "playwright-core";
import type { ListedRoute } from "../../packages/server/src/testing/list-routes.ts";

const isForm = ({ method, path }: ListedRoute): boolean =>
  method === "POST" &&
  /^\/oauth\/manage\/:org|^\/devices\/manage\/:org|^\/oauth\/:org\/(account|user)\//.test(path);

const areas = {
  lists: /\/bulk$/,
  account: /^\/oauth\/:org\//,
  devices: /^\/devices\//,
  people: /^\/oauth\/manage\/:org\/users\//,
  applications: /^\/oauth\/manage\/:org\/applications\/(?!:id\/(roles|groups)\b)/,
  pools: /^\/oauth\/manage\/:org\/pools\//,
  connections: /^\/oauth\/manage\/:org\/connections\b/,
  domains: /^\/oauth\/manage\/:org\/(domains|portal|break-glass)\b/,
  ledger: /^\/oauth\/manage\/:org\/ledger\b/,
  webhooks: /^\/oauth\/manage\/:org\/webhooks\b/,
  agents:
    /^\/oauth\/manage\/:org\/(resources|trusts|token-exchange|client-policy|client-authorities|authorization-detail-types|initial-access-tokens)\b/,
  groups: /^\/oauth\/manage\/:org\/(groups|roles|applications\/:id\/(roles|groups))\b/,
  records:
    /^\/oauth\/manage\/:org\/(system-accounts|scopes|consents|preauthorizations|shared-applications|quickstart)\b/,
  experience: /^\/oauth\/manage\/:org\/(settings\/(branding|logo|sign-in-methods)|mail-templates)\b/,
  // All others.
  organisation: /^/,
} as const;

/** Passkeys are asked for by a script, and so is what a draft looks like while it is typed. */
const SCRIPTED = /\/passkeys?$|\/(branding|sign-in-methods)\/preview$/;

export type FormArea = keyof typeof areas;

/** The first that has it: no form is nobody's. */
const areaOf = (path: string): string | undefined =>
  Object.entries(areas).find(([, paths]) => paths.test(path))?.[0];

export interface SentForms {
  /** Takes note of what the browser sends from now on. */
  hear(context: BrowserContext): void;
  /** The paths, as they are registered, of forms that nobody has sent, or that were never taken. */
  notSent(area: FormArea, isWithScripts: boolean): readonly string[];
}

export function sentForms(routes: readonly ListedRoute[]): SentForms {
  const forms = routes.filter(isForm).map(({ path }) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`),
    names: path.split(":").length,
  }));
  // As the router does: of two that fit, the one that says more.
  const inOrder = forms.toSorted((one, other) => one.names - other.names);
  const sent = new Set<string>();
  return {
    hear: (context) =>
      context.on("response", (response) => {
        if (response.request().method() !== "POST" || response.status() >= 400) return;
        const { pathname } = new URL(response.url());
        const form = inOrder.find(({ pattern }) => pattern.test(pathname));
        if (form) sent.add(form.path);
      }),
    notSent: (area, isWithScripts) =>
      forms
        .map(({ path }) => path)
        .filter(
          (path) => areaOf(path) === area && !sent.has(path) && (isWithScripts || !SCRIPTED.test(path)),
        ),
  };
}
