/** The browser that asks for a link, and the sign-in that goes on in it. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { NotFound } from "../../../http/errors.ts";
import { type BrowserDeps, formBinding, orgPath, type Visit } from "../authorize/browser.ts";
import { type Flow, withPrompts } from "../authorize/flow.ts";
import { pageFlow } from "../authorize/page-request.ts";
import type { Prompt } from "../authorize/request/authorization-request.ts";

const hashOf = (browser: string): string => sha256Base64url(`sign-up|${browser}`);

/** Whoever opens somebody else's link must not end up in the application that somebody else has chosen. */
export const holderOf = (deps: BrowserDeps, visit: Visit): string => hashOf(formBinding(deps, visit).browser);

export function isHolder(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  holderHash: string | undefined,
): boolean {
  const browser = deps.cookies.read(request, organisation.id);
  return browser !== undefined && hashOf(browser) === holderHash;
}

/** @throws NotFound where nobody signs up */
export function requireSignUp({ settings }: Pick<Organisation, "settings">): void {
  if (settings.signUp.mode === "off") throw new NotFound("page");
}

/** A sign-in for the account page, where no application has asked for one. */
export const accountFlow = (deps: BrowserDeps, { organisation }: Visit): Flow =>
  pageFlow(organisation.id, { place: "account", path: orgPath(organisation, "account") }, deps.clock());

/** The same request of somebody who has an account. */
export function withoutCreate(flow: Flow): Flow {
  const prompts = flow.parameters.flatMap(([name, value]) => (name === "prompt" ? value.split(" ") : []));
  return prompts.includes("create")
    ? withPrompts(flow, prompts.filter((prompt) => prompt !== "create") as Prompt[])
    : flow;
}
