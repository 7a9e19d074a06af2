/** The declared settings as members of a record, for the APIs and the configuration file. */
import Type, { type TSchema } from "typebox";
import {
  declaredSettings,
  optionalSettings,
  type SecuritySetting,
  type SecuritySettings,
  securitySettings,
  valuedSettings,
} from "./security-settings.ts";

type Schemas<Name extends SecuritySetting = SecuritySetting> = {
  readonly [Member in Name]: Type.TUnsafe<NonNullable<SecuritySettings[Member]>>;
};

function schemaOf(name: SecuritySetting): TSchema {
  const setting = declaredSettings[name];
  const { description } = setting;
  if (setting.kind === "flag") return Type.Boolean({ description });
  if (setting.kind === "choice") return Type.Enum([...setting.values], { description });
  return setting.kind === "list"
    ? Type.Array(Type.String(), { description, maxItems: 100 })
    : Type.String({ description });
}

const schemasOf = (names: readonly SecuritySetting[]) =>
  Object.fromEntries(names.map((name) => [name, schemaOf(name)]));

export const securitySchemas = schemasOf(securitySettings) as unknown as Schemas;
export const valuedSecuritySchemas = schemasOf(valuedSettings) as unknown as Schemas;
export const optionalSecuritySchemas = schemasOf(optionalSettings) as Readonly<Record<string, TSchema>>;
