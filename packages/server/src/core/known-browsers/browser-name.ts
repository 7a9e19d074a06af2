/** The name of a browser and system from its `User-Agent`, in fixed words: the header itself is untrusted text. */

/** In this order: most browsers also name others. */
const browsers: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOPiOS\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(Headless)?Chrom(e|ium)\/|\bCriOS\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*\bSafari\//, "Safari"],
];

const systems: ReadonlyArray<readonly [RegExp, string]> = [
  [/\biPad\b/, "iPad"],
  [/\biPhone\b/, "iPhone"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** @returns e.g. `Firefox, Windows`; undefined when neither is known */
export function browserName(userAgent: string): string | undefined {
  const named = [browsers, systems].flatMap(
    (list) => list.find(([pattern]) => pattern.test(userAgent.slice(0, 500)))?.[1] ?? [],
  );
  return named.length === 0 ? undefined : named.join(", ");
}
