/** An application of another organisation, as the organisation that may enable it sees it. */
import Type from "typebox";
import type { SharedApplication } from "../../../core/shared-applications/shared-applications.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { memoryFields } from "../lists/list-fields.ts";

const textOrNull = Type.Union([Type.String(), Type.Null()]);

export const sharedApplicationSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The `clientId`" }),
    clientId: Type.String({ format: "uuid" }),
    name: Type.String(),
    ...{ description: textOrNull, logoUri: textOrNull, homepageUri: textOrNull },
    organisationId: Type.String({ format: "uuid", description: "Whose application it is" }),
    organisationName: Type.String(),
    state: Type.Enum(["offered", "enabled", "disabled"], {
      description: "`disabled`: enabled here, and disabled by its own organisation",
    }),
    offeredScopes: Type.Array(Type.String(), { description: "What it may ask for" }),
    scopes: Type.Array(Type.String(), { description: "What this organisation has consented to" }),
    ...{ createdAt: timeOrNull, updatedAt: timeOrNull },
  },
  { title: "ApiSharedApplication" },
);

export const sharing = strictObject(
  { scopes: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }) },
  { title: "ApiSharing" },
);

export const sharedApplicationFields = memoryFields({
  ...({ id: "text", clientId: "text", name: "text", organisationId: "text" } as const),
  ...({ organisationName: "text", state: "text", createdAt: "time", updatedAt: "time" } as const),
});

const stateOf = ({ copy, isHomeDisabled }: SharedApplication) => {
  if (!copy) return "offered" as const;
  return isHomeDisabled ? ("disabled" as const) : ("enabled" as const);
};

export function sharedApplicationRecord(shared: SharedApplication) {
  const { home, homeName, copy } = shared;
  const { description = null, logoUri = null, homepageUri = null, allowedScopes } = home.settings;
  return {
    ...{ id: home.id, clientId: home.id, name: home.name, description, logoUri, homepageUri },
    ...{ organisationId: home.orgId, organisationName: homeName, state: stateOf(shared) },
    offeredScopes: allowedScopes,
    scopes: copy?.settings.allowedScopes.toSorted() ?? [],
    createdAt: wireTimeOrNull(copy?.createdAt ?? null),
    updatedAt: copy ? wireTime(copy.updatedAt) : null,
  };
}
