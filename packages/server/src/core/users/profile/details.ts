/**
 * The optional members of a user's profile: the standard claims of OpenID Connect Core §5.1 that nothing else here
 * needs. Members without a value are absent.
 */

/** In the order of the forms. */
export const detailNames = [
  "middleName",
  "nickname",
  "gender",
  "birthdate",
  "zoneinfo",
  "profileUrl",
  "website",
  "picture",
  "streetAddress",
  "postalCode",
  "locality",
  "region",
  "country",
] as const;

export type DetailName = (typeof detailNames)[number];

export type ProfileDetails = Readonly<Partial<Record<DetailName, string>>>;

/** In characters. */
export const detailLengths: Readonly<Record<DetailName, number>> = {
  middleName: 100,
  nickname: 100,
  gender: 100,
  birthdate: 10,
  zoneinfo: 64,
  profileUrl: 2_000,
  website: 2_000,
  picture: 2_000,
  streetAddress: 300,
  postalCode: 40,
  locality: 200,
  region: 200,
  country: 200,
};

/** As stored: null without any. */
export const writeDetails = (details: ProfileDetails): string | null =>
  Object.keys(details).length === 0 ? null : JSON.stringify(details);

export const readDetails = (text: string | null): ProfileDetails =>
  text === null ? {} : (JSON.parse(text) as ProfileDetails);

/** @param read the text of a field, empty without a value */
export const detailsFrom = (read: (name: DetailName) => string): ProfileDetails =>
  Object.fromEntries(
    detailNames.map((name) => [name, read(name)] as const).filter(([, value]) => value !== ""),
  );

/** @returns the invalid members */
export const detailFaults = (details: ProfileDetails): DetailName[] =>
  detailNames.filter((name) => {
    const value = details[name];
    return value !== undefined && !isDetail(name, value);
  });

const isDetail = (name: DetailName, value: string): boolean =>
  value !== "" && [...value].length <= detailLengths[name] && checks[name](value);

const isWebAddress = (text: string): boolean => {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  // Without credentials, which make an address look like another, and without what a parser would drop or repair.
  return (
    isWeb && url.username === "" && url.password === "" && /^https?:\/\/[^\s\\\p{Cc}\p{Cf}]+$/iu.test(text)
  );
};

/** Lines of an address; control characters other than line breaks are refused. */
const isLines = (text: string): boolean => !/[^\P{Cc}\n]/u.test(text);

const checks: Readonly<Record<DetailName, (text: string) => boolean>> = {
  middleName: isLine,
  nickname: isLine,
  gender: isLine,
  birthdate: isBirthdate,
  zoneinfo: isTimeZone,
  profileUrl: isWebAddress,
  website: isWebAddress,
  picture: isWebAddress,
  streetAddress: isLines,
  postalCode: isLine,
  locality: isLine,
  region: isLine,
  country: isLine,
};

function isLine(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}

/** ISO 8601: `YYYY-MM-DD`, `0000-MM-DD` without the year, or `YYYY` alone (OpenID Connect Core §5.1). */
function isBirthdate(text: string): boolean {
  if (/^\d{4}$/.test(text)) return text !== "0000";
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  // The year 2000 has a 29 February, for a day without its year.
  const date = new Date(`${text.replace(/^0000/, "2000")}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(5, 10) === text.slice(5);
}

/** A name of the time zone database, not an offset. */
function isTimeZone(text: string): boolean {
  return timeZoneNamed(text) !== undefined;
}

/** The name as the database spells it, an older one included. */
function timeZoneNamed(text: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions();
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text;
  } catch {
    return undefined;
  }
}

/** As typed: one line, but for streets, without spaces around it; a time zone in any case, with spaces or without. */
export function tidyDetail(name: DetailName, text: string): string {
  if (name === "streetAddress") return tidyLines(text);
  const line = text.trim().replace(/\s+/g, " ");
  return name === "zoneinfo" ? (timeZoneNamed(line.replaceAll(" ", "_")) ?? line) : line;
}

function tidyLines(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim().replace(/\s+/g, " "));
  return lines.filter((line) => line !== "").join("\n");
}
