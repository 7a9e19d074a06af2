import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DetailName,
  detailFaults,
  detailLengths,
  detailNames,
  readDetails,
  tidyDetail,
  writeDetails,
} from "./details.ts";

const accepts = (name: DetailName, ...values: string[]) => {
  for (const value of values) assert.deepEqual(detailFaults({ [name]: value }), [], `${name}: ${value}`);
};
const refuses = (name: DetailName, ...values: string[]) => {
  for (const value of values) assert.deepEqual(detailFaults({ [name]: value }), [name], `${name}: ${value}`);
};

test("a birth date is a day, a day without its year, or a year", () => {
  accepts("birthdate", "1990-05-17", "2000-02-29", "0000-02-29", "0000-12-31", "1815", "9999");
  refuses(
    "birthdate",
    "0000",
    "1990-02-29",
    "1990-13-01",
    "1990-00-10",
    "1990-1-1",
    "17.05.1990",
    "1990-05",
    "90",
    "1990-05-17T00:00:00Z",
  );
  refuses("birthdate", "０000-01-01", "-990-01-01", "1990-05-17\n");
});

test("web addresses are http or https, without credentials", () => {
  for (const name of ["profileUrl", "website", "picture"] as const) {
    accepts(
      name,
      "https://ada.example/",
      "http://ada.example:8080/a?b=c#d",
      "https://bücher.example/ü",
      "HTTPS://ada.example",
    );
    refuses(
      name,
      "javascript:alert(1)",
      "data:image/png;base64,AA",
      "ftp://ada.example/",
      "ada.example",
      "//ada.example",
      "https://",
    );
    refuses(
      name,
      "https://id.example@evil.example/",
      "https://u:p@ada.example/",
      "https://ada.example/a b",
      "https:\\\\ada.example",
      "https:/ada.example",
    );
    refuses(
      name,
      " https://ada.example",
      "https://ada.example/\u202egnp",
      `https://ada.example/${"x".repeat(2_000)}`,
    );
  }
});

test("a time zone is a name of the time zone database", () => {
  accepts("zoneinfo", "Europe/Copenhagen", "America/Argentina/Ushuaia", "Etc/GMT+5", "UTC", "Asia/Kolkata");
  refuses(
    "zoneinfo",
    "+01:00",
    "Europe/Nowhere",
    "Copenhagen",
    "Europe/Copenhagen ",
    "../etc/passwd",
    "__proto__",
  );
});

test("texts are bounded and without control characters; only streets have lines", () => {
  for (const name of detailNames) {
    refuses(name, "", "a\u0000b", "a\tb", "x".repeat(detailLengths[name] + 1));
    if (name !== "streetAddress") refuses(name, "a\nb");
  }
  accepts("streetAddress", "12 Main Street\nFlat 3");
  accepts("gender", "female", "male", "non-binary");
  accepts("nickname", "🦊".repeat(100));
});

test("is stored without absent members, and as null without any", () => {
  assert.equal(writeDetails({}), null);
  assert.deepEqual(readDetails(null), {});
  assert.deepEqual(readDetails(writeDetails({ nickname: "Ada" })), { nickname: "Ada" });
});

test("a time zone is found in any case, with spaces", () => {
  assert.equal(tidyDetail("zoneinfo", " europe/copenhagen "), "Europe/Copenhagen");
  assert.equal(tidyDetail("zoneinfo", "America/New York"), "America/New_York");
  assert.equal(tidyDetail("zoneinfo", "asia/kolkata").toLowerCase(), "asia/kolkata");
  assert.equal(tidyDetail("zoneinfo", "Mars/Olympus Mons"), "Mars/Olympus Mons");
});

test("a form's text becomes one line; a street keeps its own", () => {
  assert.equal(tidyDetail("nickname", "  Ada \r\n Lovelace "), "Ada Lovelace");
  assert.equal(tidyDetail("streetAddress", " 12  Main Street \r\n\r\n Flat 3\n"), "12 Main Street\nFlat 3");
});
