/** `signet.dev.yaml`: organisations with their users, roles and groups, and the sections that `signet config apply` takes. */

import Type, { type Static } from "typebox";
import { type Document, isAlias, isMap, isNode, isPair, LineCounter, parseDocument } from "yaml";
import { memberFaults } from "../../core/configuration/member-faults.ts";
import {
  FILE_FORMAT,
  type FileFault,
  InvalidFile,
  type OrganisationFile,
  organisationFileSchema,
} from "../../core/configuration/organisation-file.ts";
import { checkedFile } from "../../core/configuration/validation.ts";
import { atOnce } from "../../core/portions.ts";
import { builtInRoles } from "../../core/roles/built-in-roles.store.ts";

const closed = { additionalProperties: false } as const;
const MAX_RECORDS = 1_000;
const listOf = <Item extends Type.TSchema>(item: Item) => Type.Array(item, { maxItems: MAX_RECORDS });
const texts = listOf(Type.String());

const userSchema = Type.Object(
  {
    email: Type.String(),
    /** Default: one that is made up, and printed. */
    password: Type.Optional(Type.String()),
    firstname: Type.Optional(Type.String()),
    surname: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    role: Type.Optional(Type.Enum([...builtInRoles])),
    /** Keys of roles of the organisation; `application/key` for one of an application, by its externalKey. */
    roles: Type.Optional(texts),
    groups: Type.Optional(texts),
  },
  closed,
);

const roleSchema = Type.Object(
  {
    key: Type.String(),
    /** The externalKey of the application that it belongs to; default: the organisation's own. */
    application: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    permissions: Type.Optional(texts),
  },
  closed,
);

/** What `signet config apply` takes, except the format, and an address that fills in what depends on it. */
const { format: _format, applications, ...sections } = organisationFileSchema.properties;
const applicationMembers = applications.items.properties;
const applicationSchema = Type.Object(
  {
    ...applicationMembers,
    clientType: Type.Optional(applicationMembers.clientType),
    url: Type.Optional(Type.String()),
  },
  closed,
);

const organisationSchema = Type.Object(
  {
    name: Type.String(),
    users: Type.Optional(listOf(userSchema)),
    groups: Type.Optional(texts),
    roles: Type.Optional(listOf(roleSchema)),
    ...sections,
    applications: Type.Optional(listOf(applicationSchema)),
  },
  closed,
);

export const documentSchema = Type.Object({ organisations: listOf(organisationSchema) }, closed);

export type DevelopmentDocument = Static<typeof documentSchema>;
export type DevelopmentOrganisation = Static<typeof organisationSchema>;
export type DevelopmentUser = Static<typeof userSchema>;
export type DevelopmentApplication = Static<typeof applicationSchema>;

/** A document that cannot be used, in one sentence. */
export class InvalidDocument extends Error {
  override readonly name = "InvalidDocument";
}

/** An organisation's part as `signet config apply` takes it. */
export function fileOf(organisation: DevelopmentOrganisation): OrganisationFile {
  const {
    name: _name,
    users: _users,
    groups: _groups,
    roles: _roles,
    applications = [],
    ...rest
  } = organisation;
  return { format: FILE_FORMAT, ...rest, applications: applications.map(withAddresses) };
}

const withoutSlash = (url: string): string => url.replace(/\/$/, "");

/** The addresses that the SDK's packages use; first-party applications, so that nobody is asked for consent. */
function withAddresses({
  url,
  ...given
}: DevelopmentApplication): NonNullable<OrganisationFile["applications"]>[number] {
  const { clientType = "confidential" } = given;
  const defaults = { clientType, externalKey: keyOf(given), consentMode: "preauthorized" } as const;
  if (url === undefined) return { ...defaults, ...given };
  const origin = withoutSlash(url);
  const callbacks =
    clientType === "spa" ? [`${origin}/`, `${origin}/callback`] : [`${origin}/signet/callback`];
  return {
    ...defaults,
    redirectUris: callbacks,
    postLogoutRedirectUris: [`${origin}/`],
    returnUrls: clientType === "spa" ? [] : [`${origin}/`],
    ...given,
  };
}

/** What names an application in the document: its key, or its name in letters that a key may have. */
export const keyOf = ({ externalKey, name }: Pick<DevelopmentApplication, "externalKey" | "name">): string =>
  externalKey ??
  (name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") ||
    "application");

/** Every fault, as JSON Pointers. */
export function documentFaults(value: unknown): readonly FileFault[] {
  const faults = memberFaults(documentSchema, value);
  if (faults.length > 0) return faults;
  const { organisations } = value as DevelopmentDocument;
  return organisations.flatMap((organisation, index) =>
    organisationFaults(organisation, `/organisations/${index}`),
  );
}

function organisationFaults(organisation: DevelopmentOrganisation, at: string): FileFault[] {
  const inside = ({ path, message }: FileFault): FileFault => ({ path: `${at}${path}`, message });
  return [...referenceFaults(organisation), ...configurationFaults(organisation)].map(inside);
}

function configurationFaults(organisation: DevelopmentOrganisation): readonly FileFault[] {
  try {
    atOnce(checkedFile(fileOf(organisation), { isDemo: true }));
    return [];
  } catch (error) {
    if (error instanceof InvalidFile) return error.faults;
    throw error;
  }
}

/** Roles and groups that users have must be in the document. */
function referenceFaults({
  users = [],
  groups = [],
  roles = [],
  applications = [],
}: DevelopmentOrganisation): FileFault[] {
  const keys = new Set(applications.map(keyOf));
  const known = new Set(
    roles.map(({ application, key }) => (application === undefined ? key : `${application}/${key}`)),
  );
  const ofRoles = roles.flatMap(({ application }, index) =>
    application === undefined || keys.has(application)
      ? []
      : [{ path: `/roles/${index}/application`, message: "names no application of the organisation" }],
  );
  const ofUsers = users.flatMap((user, index) => [
    ...missing(user.roles, known, `/users/${index}/roles`, "role"),
    ...missing(user.groups, new Set(groups), `/users/${index}/groups`, "group"),
  ]);
  return [...ofRoles, ...ofUsers];
}

const missing = (
  names: readonly string[] = [],
  known: ReadonlySet<string>,
  path: string,
  what: string,
): FileFault[] =>
  names.flatMap((name, index) =>
    known.has(name) ? [] : [{ path: `${path}/${index}`, message: `names no ${what} of the organisation` }],
  );

/** @param file its name, for the sentence. @throws InvalidDocument with the line of the first fault */
export function parseDevelopmentDocument(text: string, file: string): DevelopmentDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    version: "1.2",
    merge: false,
  });
  const lineAt = (position: number) => lines.linePos(position).line;
  const [syntax] = [...document.errors, ...document.warnings];
  if (syntax)
    throw new InvalidDocument(
      `${file}, line ${lineAt(syntax.pos[0])}: ${syntax.message.split(/ at line |\n/, 1)[0]}.`,
    );
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const placed = documentFaults(value).map((fault) => ({
    ...fault,
    position: positionOf(document, fault.path),
  }));
  const [first] = placed.toSorted((a, b) => a.position - b.position);
  if (first) throw new InvalidDocument(`${file}, line ${lineAt(first.position)}: ${sentenceOf(first)}`);
  return value as DevelopmentDocument;
}

/** @throws InvalidDocument naming the first fault by its path */
export function checkDevelopmentDocument(value: unknown): DevelopmentDocument {
  const [first] = documentFaults(value);
  if (first) throw new InvalidDocument(sentenceOf(first));
  return value as DevelopmentDocument;
}

const sentenceOf = ({ path, message }: FileFault): string => {
  const place = path.split("/").slice(1).map(unescapePointer).join(".");
  return `${place === "" ? "the document" : place} ${message.replace(/\.$/, "")}.`;
};

const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

/** Where a member's name stands, or the nearest thing around it. */
function positionOf(document: Document, pointer: string): number {
  const path = pointer.split("/").slice(1).map(unescapePointer);
  for (let length = path.length; length > 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    const key = isMap(parent)
      ? parent.items.find((item) => isPair(item) && isNode(item.key) && String(item.key) === name)?.key
      : undefined;
    const node = isNode(key) ? key : document.getIn(path.slice(0, length), true);
    if (isNode(node) && !isAlias(node) && node.range) return node.range[0];
  }
  return 0;
}
