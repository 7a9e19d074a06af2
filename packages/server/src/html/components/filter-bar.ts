/** Above a list: a search, and what it is narrowed to. A GET form; scripts/filter-bar.js sends it when a choice is made. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { type HiddenField, hiddenFields } from "./form.ts";
import { icon } from "./icons.ts";

/** Its text field is `search`. */
export function filterBar(view: {
  action: string;
  /** Of everything; the action's, unless the address says something else besides. */
  allUri?: string;
  /** What the address says besides, which a search leaves as it is. */
  kept?: readonly HiddenField[];
  /** `Name or ID`. */
  label: string;
  value: string;
  filters?: Content;
  /** Then there is a link back to everything. */
  isSearch?: boolean;
  messages: Messages;
}): Html {
  const { list } = view.messages.console.frame;
  const { isSearch = view.value !== "" } = view;
  return html`<form class="search" method="get" action="${linkAddress(view.action)}" role="search" data-filter>
<div class="field"><label for="search">${view.label}</label>
<div class="with-icon">${icon("search")}<input id="search" name="search" type="search" value="${view.value}" maxlength="100" autocomplete="off"></div></div>
${view.filters}${view.kept && hiddenFields(view.kept)}<button class="button" id="search-submit" type="submit">${list.submit}</button>
${isSearch && html`<a class="button plain" id="search-all" href="${linkAddress(view.allUri ?? view.action)}">${list.all}</a>`}<span class="visually-hidden" data-filter-status role="status"></span></form>
${listKeys(view.messages, { isTicked: true })}`;
}

/** Above a list that has more matches than it shows. */
export const moreMatchesHint = ({ console: { frame } }: Messages): Html =>
  html`<p class="quiet" id="first-only">${frame.list.firstOnly}</p>
`;

export const noResults = ({ console: { frame } }: Messages): Html =>
  html`<div class="empty" role="status"><span class="empty-icon">${icon("search")}</span><p class="item-name">${frame.list.noneFound}</p>
<p class="quiet">${frame.list.noneFoundText}</p></div>
`;

/** The keys that scripts/list-keys.js gives a list: shown where it asks for them. */
export function listKeys({ console: { frame } }: Messages, { isTicked }: { isTicked: boolean }): Html {
  const { keys } = frame.list;
  const line = (key: string, text: string) =>
    html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>
`;
  return html`<template data-list-keys><h2 id="list-keys-title">${keys.title}</h2>
<dl class="key-lines">${line("j / ↓", keys.next)}${line("k / ↑", keys.previous)}${isTicked && line("x", keys.select)}${line("Enter", keys.open)}${line("/", keys.search)}${line("?", keys.help)}</dl>
<p class="check"><input id="list-keys-on" type="checkbox"> <label for="list-keys-on">${keys.letters}</label></p>
<div class="actions"><button class="button" type="button" id="list-keys-close">${keys.close}</button></div></template>
`;
}
