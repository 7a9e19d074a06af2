/** Where in a list one is, the list as a file, and the pages beside this one. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { icon } from "./icons.ts";

export type PaginationView = {
  /** The rows that are shown, counted from 1, and how many there are: `1–25 of 1,204`, or more than that. */
  range?: { from: number; to: number; total?: number | undefined; isMore?: boolean } | undefined;
  newestUri?: string | undefined;
  previousUri?: string | undefined;
  olderUri?: string | undefined;
  /** How many rows a page has, and the address with another number. */
  sizes?: { current: number; uris: ReadonlyArray<readonly [size: number, uri: string]> } | undefined;
  /** The whole list as a file, as it is narrowed and sorted. */
  exportUri?: string | undefined;
  /** Of a list without such a file: its keys are told all the same. */
  hasKeys?: boolean;
  messages: Messages;
};

export function pagination(view: PaginationView): Html | undefined {
  const { list } = view.messages.console.frame;
  const { newestUri, previousUri, olderUri, range } = view;
  const isWhole = newestUri === undefined && previousUri === undefined && olderUri === undefined;
  if (isWhole && (range === undefined || range.to < range.from)) return undefined;
  return html`<nav class="pager" aria-label="${list.pages}">
${range && html`<p class="pager-range" id="page-range">${rangeText(range, view.messages)}</p>`}${pageSizes(view)}${exportLink(view)}${keysButton(view)}
<div class="pager-links">${pageLink("page-newest", newestUri, list.newest)}${pageLink("page-previous", previousUri, html`${icon("chevron-left")}${list.newer}`)}${pageLink("page-older", olderUri, html`${list.older}${icon("chevron-right")}`)}</div>
</nav>
`;
}

const pageLink = (id: string, uri: string | undefined, label: Content): Content =>
  uri !== undefined &&
  html`<a class="button" id="${id}" href="${linkAddress(uri)}">${label}</a>
`;

const exportLink = ({ exportUri, messages }: PaginationView): Content =>
  exportUri !== undefined &&
  html`<a class="pager-export" id="list-export" href="${linkAddress(exportUri)}">${icon("download")}${messages.console.frame.list.export}</a>`;

const keysButton = ({ exportUri, hasKeys = exportUri !== undefined, messages }: PaginationView): Content =>
  hasKeys &&
  html`<button class="pager-keys" id="list-keys" type="button" data-show-list-keys hidden>${messages.console.frame.list.keys.title}</button>`;

function rangeText(
  { from, to, total, isMore }: NonNullable<PaginationView["range"]>,
  messages: Messages,
): string {
  const { list } = messages.console.frame;
  if (total === undefined) return list.range({ from, to });
  return isMore ? list.rangeOfMore({ from, to, total }) : list.rangeOf({ from, to, total });
}

/** Nothing where even the smallest page holds the whole list. */
function pageSizes({ sizes, range, messages }: PaginationView): Content {
  const smallest = sizes?.uris[0]?.[0];
  if (!sizes || (range?.total !== undefined && smallest !== undefined && range.total <= smallest))
    return undefined;
  const { list } = messages.console.frame;
  return html`<p class="pager-sizes"><span id="page-sizes">${list.perPage}</span>${sizes.uris.map(
    ([size, uri]) =>
      html` <a href="${linkAddress(uri)}" aria-describedby="page-sizes"${size === sizes.current && html` aria-current="true"`}>${size}</a>`,
  )}</p>`;
}
