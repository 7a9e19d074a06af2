/** The gallery: a card for each framework or product, in groups, with a filter where scripts run. */
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { icon } from "../../../html/components/icons.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { galleryScript } from "../../../html/scripts.ts";
import { entriesOf, type GalleryEntry, type GalleryGroup, galleryGroups } from "./gallery.ts";
import { galleryMark } from "./gallery-marks.ts";

type GalleryView = ConsoleFrame & { devicesUri: string };

export function galleryPage(view: GalleryView): Html {
  const { messages, consoleUri } = view;
  const { gallery, inspector } = messages.console.quickstart;
  const open = buttonLink({
    id: "quickstart-inspector",
    uri: consoleUri("/quickstart/token-inspector"),
    label: inspector.open,
    icon: "inspect",
  });
  return consoleLayout({
    ...view,
    breadcrumbs: [],
    scripts: [galleryScript.path],
    title: messages.console.frame.pages.quickstart,
    summary: gallery.summary,
    body: [
      html`<div class="field gallery-filter" id="gallery-filter" hidden><label for="gallery-search">${gallery.search}</label>
<div class="with-icon">${icon("search")}<input id="gallery-search" type="search" autocomplete="off" placeholder="${gallery.searchExample}"></div>
<p class="quiet" id="gallery-none" role="status" data-none="${gallery.none}"></p></div>
`,
      galleryGroups.map((group) => groupSection(view, group)),
      card({
        id: "inspect",
        title: inspector.title,
        text: inspector.short,
        body: html`<div class="actions">${open}</div>
`,
      }),
    ],
  });
}

/** In the reader's language where it is a kind of application. */
export const titleOf = ({ title, kind }: GalleryEntry, { console }: Messages): string =>
  title ?? (kind === undefined ? "" : console.applications.kinds[kind]);

function groupSection({ messages, consoleUri, devicesUri }: GalleryView, group: GalleryGroup): Html {
  const { quickstart, applications } = messages.console;
  const { groups, more } = quickstart.gallery;
  const cards = entriesOf(group).map((entry) => {
    const title = titleOf(entry, messages);
    const text = entry.library ?? (entry.kind === undefined ? undefined : applications.kindTexts[entry.kind]);
    return galleryCard({
      id: `for-${entry.name}`,
      uri: consoleUri(`/quickstart/new?for=${entry.name}`),
      title,
      text,
      words: entry.words,
      mark: galleryMark(entry.name),
    });
  });
  return html`<section class="gallery-group" id="group-${group}" aria-labelledby="group-${group}-title">
<h2 id="group-${group}-title">${groups[group]}</h2>
<ul class="gallery">
${cards}${
  group === "machine" && [
    galleryCard({
      id: "quickstart-system-account",
      uri: consoleUri("/system-accounts/new"),
      mark: icon("account"),
      ...more.account,
    }),
    galleryCard({ id: "quickstart-device", uri: devicesUri, mark: icon("device"), ...more.device }),
    galleryCard({ id: "quickstart-agent", uri: consoleUri("/pools"), mark: icon("pool"), ...more.agent }),
  ]
}</ul></section>
`;
}

const galleryCard = (one: {
  id: string;
  uri: string;
  title: string;
  text?: string | undefined;
  words?: string | undefined;
  mark: Html;
}): Html =>
  html`<li data-words="${[one.title, one.text, one.words].join(" ").toLowerCase()}"><a id="${one.id}" href="${linkAddress(one.uri)}"><span class="gallery-mark">${one.mark}</span><span class="gallery-name">${one.title}${one.text !== undefined && html`<span class="quiet">${one.text}</span>`}</span></a></li>
`;
