/** The bar on top: brand, organisation, command menu, help, user. Its menus are popovers, which need no script. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { avatar } from "./avatar.ts";
import type { ConsoleFrame, ConsoleView, MenuLink } from "./console-view.ts";
import { hiddenFields } from "./form.ts";
import { icon } from "./icons.ts";
import { organisationSwitcher } from "./org-switcher.ts";
import { ringMark } from "./ring-mark.ts";

export function topBar(view: ConsoleFrame & Pick<ConsoleView, "title">): Html {
  const { frame } = view.messages.console;
  // The title shows when the page's own heading has left the screen of a phone: as generated text it is found once.
  return html`<header class="top">
<button class="icon-button menu-open" id="menu-open" type="button" popovertarget="menu" aria-label="${frame.menu}">${icon("menu")}</button>
${brand(view)}
<span class="top-title" data-title="${view.title}" aria-hidden="true"></span>
<div class="top-end">${view.commandMenu}${helpMenu(view)}${view.portal ? closeButton(view) : userMenu(view)}</div>
</header>`;
}

function brand(view: ConsoleFrame): Html {
  const { name, logoUri, darkLogoUri: darkUri } = view.organisation;
  const home = linkAddress(view.homeUri);
  if (view.isEndUserPage)
    return html`<a class="top-brand" id="nav-home" href="${home}">${avatar(name, logoUri, { size: "small", darkUri })}<bdi class="brand-name">${name}</bdi></a>`;
  return html`<a class="top-brand" id="nav-home" href="${home}">${ringMark}<span class="wordmark">${view.messages.product}</span></a>
${organisationSwitcher(view)}`;
}

function helpMenu({ help = [], messages }: ConsoleFrame): Content {
  if (help.length === 0) return undefined;
  const { frame } = messages.console;
  return html`<button class="icon-button" type="button" id="help-open" popovertarget="help" aria-label="${frame.help}">${icon("help")}</button>
<div class="drop help-menu" id="help" popover><p class="drop-title">${frame.help}</p>
<ul>${help.map(menuLink)}</ul></div>`;
}

function userMenu({ user, elsewhere, signOut, messages }: ConsoleFrame): Html {
  const { frame } = messages.console;
  return html`<button class="icon-button who" type="button" id="who-open" popovertarget="who">${avatar(user.email, undefined, { size: "small", isRound: true })}<bdi class="visually-hidden">${user.email}</bdi></button>
<div class="drop who-menu" id="who" popover><p class="drop-title"><bdi>${user.email}</bdi></p>
<ul>${elsewhere.map(menuLink)}<li><form method="post" action="${linkAddress(signOut.uri)}">${hiddenFields([{ name: "csrf", value: signOut.csrf }])}<button id="nav-sign-out" type="submit">${frame.signOut}</button></form></li></ul></div>`;
}

/** Of a visit by a portal link. */
const closeButton = ({ signOut, messages }: ConsoleFrame): Html =>
  html`<form method="post" action="${linkAddress(signOut.uri)}">${hiddenFields([{ name: "csrf", value: signOut.csrf }])}<button class="button" id="portal-close" type="submit">${messages.console.portal.close}</button></form>`;

const menuLink = ({ id, label, uri }: MenuLink): Html =>
  html`<li><a id="${id}" href="${linkAddress(uri)}">${label}</a></li>`;
