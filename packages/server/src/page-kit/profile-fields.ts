/** The optional members of a profile as a section of a form, behind a summary: on the account page and in the console. */
import {
  type DetailName,
  detailLengths,
  detailNames,
  detailsFrom,
  type ProfileDetails,
  tidyDetail,
} from "../core/users/profile/details.ts";
import { type Field, fieldRow, textArea, textField } from "../html/components/fields.ts";
import { hiddenFields } from "../html/components/form.ts";
import { type Content, type Html, html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";

/** Empty without a value. */
export type DetailInput = Readonly<Record<DetailName, string>>;

const inputOf = (read: (name: DetailName) => string): DetailInput =>
  Object.fromEntries(detailNames.map((name) => [name, read(name)])) as DetailInput;

export const toDetailInput = (details: ProfileDetails): DetailInput => inputOf((name) => details[name] ?? "");

/** Sent along with the fields, because empty ones look like absent ones. */
const MARK = "details";

/** A form without the section leaves all as they are. */
export function readDetailInput(values: ReadonlyMap<string, string>, before: DetailInput): DetailInput {
  const isShown = [MARK, ...detailNames].some((name) => values.has(name));
  return inputOf((name) => (isShown ? tidyDetail(name, values.get(name) ?? "") : before[name]));
}

export const toDetails = (input: DetailInput): ProfileDetails => detailsFrom((name) => input[name]);

/** What is wrong with an invalid member. */
export function detailFaultText(name: DetailName, { profileDetails: { faults } }: Messages): string {
  if (name === "birthdate" || name === "zoneinfo") return faults[name];
  const isWeb = name === "profileUrl" || name === "website" || name === "picture";
  return isWeb ? faults.web : faults.text({ max: detailLengths[name] });
}

type FieldOf = (name: DetailName) => Field & { readonly value: string };

export interface DetailsSection {
  readonly field: FieldOf;
  readonly hint: string;
  /** Whether the browser may fill in the user's own values: not those of an administrator. */
  readonly isOwn: boolean;
  readonly messages: Messages;
}

/** Open with a value, a fault, or a value that somebody else has changed. */
export function detailsSection(view: DetailsSection): Html {
  const { field, hint, messages } = view;
  const { more, groups } = messages.profileDetails;
  const isOpen = detailNames
    .map(field)
    .some(({ value, fault, isNow }) => value !== "" || fault !== undefined || isNow !== undefined);
  return html`<details class="more-fields" id="more-details"${isOpen && html` open`}><summary>${more}</summary>
<p class="field-hint">${hint}</p>
${hiddenFields([{ name: MARK, value: "shown" }])}${group(groups.person, personFields(view))}${group(groups.address, addressFields(view))}${group(groups.web, webFields(view))}</details>
`;
}

const group = (
  legend: string,
  fields: Content,
): Html => html`<fieldset class="field-group"><legend>${legend}</legend>
${fields}</fieldset>
`;

/** @param token of HTML's `autocomplete`, for one's own values */
const textOf =
  ({ field, isOwn }: DetailsSection) =>
  (name: DetailName, token: string, more: Partial<Parameters<typeof textField>[0]> = {}): Html =>
    textField({
      ...field(name),
      maxLength: detailLengths[name],
      ...(isOwn ? { autocomplete: token } : {}),
      ...more,
    });

function personFields(view: DetailsSection): Content {
  const text = textOf(view);
  const { birthdateHint, zoneinfoHint } = view.messages.profileDetails;
  return [
    fieldRow(text("middleName", "additional-name"), text("nickname", "nickname")),
    fieldRow(text("gender", "sex"), text("zoneinfo", "off", { hint: zoneinfoHint })),
    text("birthdate", "bday", { hint: birthdateHint }),
  ];
}

function addressFields(view: DetailsSection): Content {
  const { field, isOwn } = view;
  const text = textOf(view);
  return [
    textArea({
      ...field("streetAddress"),
      rows: 2,
      maxLength: detailLengths.streetAddress,
      ...(isOwn ? { autocomplete: "street-address" } : {}),
    }),
    fieldRow(text("postalCode", "postal-code"), text("locality", "address-level2")),
    fieldRow(text("region", "address-level1"), text("country", "country-name")),
  ];
}

function webFields(view: DetailsSection): Content {
  const text = textOf(view);
  return [
    html`<p class="field-hint">${view.messages.profileDetails.webHint}</p>
`,
    text("profileUrl", "off", { type: "url" }),
    text("website", "url", { type: "url" }),
    text("picture", "photo", { type: "url" }),
  ];
}
