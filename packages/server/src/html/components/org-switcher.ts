/** The organisation whose pages these are, and a menu of it and the others that the user administers. */
import { type Html, html, linkAddress } from "../html.ts";
import { avatar } from "./avatar.ts";
import type { ConsoleFrame } from "./console-view.ts";
import { icon } from "./icons.ts";

export function organisationSwitcher(view: ConsoleFrame): Html {
  const { name, logoUri, darkLogoUri: darkUri } = view.organisation;
  const others = view.otherOrganisations;
  const { frame } = view.messages.console;
  const current = html`${avatar(name, logoUri, { size: "small", darkUri })}<bdi class="brand-name">${name}</bdi>`;
  if (others.length === 0) return html`<span class="org">${current}</span>`;
  const links = others.map(
    (one) =>
      html`<li><a href="${linkAddress(one.uri)}">${avatar(one.name, undefined, { size: "small" })}<bdi>${one.name}</bdi></a></li>`,
  );
  return html`<button class="org org-open" type="button" id="switch-open" popovertarget="switch">${current}<span class="visually-hidden">${frame.switch}</span>${icon("updown")}</button>
<div class="drop switch" id="switch" popover><p class="drop-title">${frame.switch}</p>
<ul><li><span class="drop-current" aria-current="true">${avatar(name, logoUri, { size: "small", darkUri })}<bdi>${name}</bdi>${icon("check")}</span></li>${links}</ul></div>`;
}
