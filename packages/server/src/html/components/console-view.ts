/** What the frame of console and account pages shows, and what a page puts in it. */
import type { Content, Html } from "../html.ts";
import type { PageFrame, PageOrganisation } from "../layout.ts";
import type { IconName } from "./icons.ts";
import type { Undo } from "./toast.ts";

export type NavLink = {
  id: string;
  label: string;
  uri: string;
  isCurrent: boolean;
  icon: IconName;
  count?: number;
};

export type NavSection = {
  heading?: string | undefined;
  /** Kept at the foot of the navigation. */
  isLast?: boolean;
  links: readonly NavLink[];
};

export type MenuLink = { id: string; label: string; uri: string };

export type ConsoleFrame = PageFrame & {
  /** Of the stylesheet: see layout.ts. */
  font?: string | undefined;
  organisation: PageOrganisation;
  /** Signet's own pages carry its mark; those of end users carry the organisation's, and its accent. */
  isEndUserPage?: boolean;
  /** Where the brand leads. */
  homeUri: string;
  /** @param rest below the organisation's console: begins with a slash */
  consoleUri(rest: string): string;
  navigation: { label: string; sections: readonly NavSection[] };
  user: { email: string };
  /** The reader has no account: what leads to other pages of the console is left out (page-kit/portal-visit.ts). */
  portal?: { readonly purposes: readonly string[]; readonly returnUri: string | undefined };
  /** Sign-ups that wait for an administrator; undefined where none can. */
  waitingSignUps?: number | undefined;
  /** Links in the user menu: the account pages, or the console for administrators. */
  elsewhere: readonly MenuLink[];
  /** Posted from the menu: it signs out without another question. */
  signOut: { uri: string; csrf: string };
  /** Of the last act, where the page has no notice of its own: nothing was left to do, or the last edit was taken back. */
  outcome?: "already" | "undone" | undefined;
  /** Of the edit that led to this page: its toast offers it. */
  undo?: Undo;
  otherOrganisations: readonly { name: string; uri: string }[];
  /** In the `?` menu: documentation that this service serves. */
  help?: readonly MenuLink[];
  /** About this page, in documentation that this service serves: linked after the summary. */
  learnMoreUri?: string | undefined;
  /** The button of the command menu, between the brand and the menus. */
  commandMenu?: Html | undefined;
};

export type ConsoleView = ConsoleFrame & {
  /** The page's heading, and the first part of the document title. */
  title: string;
  /** In place of `title` where a record's name may be of any text direction. */
  heading?: Content;
  /** Beside a record's name: its avatar. */
  emblem?: Html | undefined;
  breadcrumbs: readonly { label: string; uri: string }[];
  summary?: Content;
  /** Its summary is one line of facts, see record-heading.ts. */
  isRecord?: boolean;
  actions?: Content;
  notice?: Html | undefined;
  body: Content;
  scripts?: readonly string[] | undefined;
  refresh?: { seconds: number; path: string } | undefined;
  /** See layout.ts. */
  previewAccent?: string | undefined;
};
