/** The style sheets of pages. */
import { type Asset, readAsset } from "./asset.ts";
import { interFace } from "./fonts.ts";

/** The one stylesheet of every page but the API reference, in the order of its cascade. */
export const stylesheet: Asset = readAsset("signet", "css", [
  "styles/base.css",
  "styles/avatar.css",
  "styles/frame.css",
  "styles/forms.css",
  "styles/boxes.css",
  "styles/messages.css",
  "styles/wait.css",
  "styles/reading.css",
]);

export const referenceStylesheet: Asset = readAsset("reference", "css", [
  "styles/base.css",
  "styles/avatar.css",
  "styles/frame.css",
  "styles/reading.css",
  "styles/reference.css",
]);

const CONSOLE_STYLES = [
  "styles/base.css",
  "styles/avatar.css",
  "styles/frame.css",
  "styles/forms.css",
  "styles/boxes.css",
  "styles/messages.css",
  "styles/reading.css",
  "styles/console.css",
  "styles/console-frame.css",
  "styles/console-navigation.css",
  "styles/command-menu.css",
  "styles/console-parts.css",
  "styles/console-components.css",
  "styles/console-fields.css",
  "styles/console-table.css",
  "styles/console-account.css",
  "styles/console-applications.css",
  "styles/console-aside.css",
  "styles/console-gallery.css",
  "styles/console-audit.css",
  "styles/console-organisation.css",
  "styles/console-editor.css",
  "styles/console-edit.css",
  "styles/console-chart.css",
  "styles/console-home.css",
  "styles/console-media.css",
];

export const consoleStylesheet: Asset = readAsset("console", "css", CONSOLE_STYLES, interFace);
