/**
 * One accent colour per organisation, made readable. Whatever colour is stored, what reaches the page keeps
 * WCAG 2.2 AA against both the light and the dark surface (1.4.3 text, 1.4.11 controls).
 */

/**
 * How the accent appears on one surface: a filled button, its hover, its edge, the text on it, and the accent of links
 * and focus rings. The fill is the organisation's colour itself; the edge keeps a pale one visible.
 */
export type AccentShades = { fill: string; hover: string; edge: string; onFill: string; accent: string };

type Rgb = readonly [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/** The surfaces that accents are measured against: at least as hard as those of styles/base.css. */
const LIGHT_SURFACE = "#f5f5f7";
const DARK_SURFACE = "#1a1c22";

/** For organisations that have chosen none: the ink of Signet's own buttons. */
export const DEFAULT_ACCENT = "#16191d";

/** Signet's own shades, as styles/base.css has them: ink on paper and paper on ink, with verdigris for links. */
const OWN_SHADES: { light: AccentShades; dark: AccentShades } = {
  light: {
    fill: DEFAULT_ACCENT,
    hover: "#31363d",
    edge: DEFAULT_ACCENT,
    onFill: "#ffffff",
    accent: "#0b6b5f",
  },
  dark: { fill: "#edeff1", hover: "#ffffff", edge: "#edeff1", onFill: DEFAULT_ACCENT, accent: "#5cc8b8" },
};

/** Six hexadecimal digits and nothing else: safe to write into a style element. */
export function isAccentColour(text: string | undefined): text is string {
  return text !== undefined && /^#[0-9a-f]{6}$/i.test(text);
}

function parse(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function format(colour: Rgb): string {
  return `#${colour.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

/** Relative luminance, WCAG 2.2 "relative luminance" definition. */
function luminance(colour: Rgb): number {
  const linear = (channel: number): number => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
}

/** Contrast ratio of two `#rrggbb` colours, from 1 to 21 (WCAG 2.2 "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [high, low] = [luminance(parse(one)), luminance(parse(other))].sort((a, b) => b - a);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

function mix(colour: Rgb, towards: Rgb, share: number): Rgb {
  const channel = (index: 0 | 1 | 2): number => colour[index] + (towards[index] - colour[index]) * share;
  return [channel(0), channel(1), channel(2)];
}

/** The colour nearest to `colour`, moved towards `pole`, that reaches the contrast asked for on the surface. */
function readable(colour: string, surface: string, pole: Rgb, least: number): string {
  for (let step = 0; step <= 50; step += 1) {
    const candidate = format(mix(parse(colour), pole, step / 50));
    if (contrast(candidate, surface) >= least) return candidate;
  }
  return format(pole);
}

function shades(fill: string, surface: string, pole: Rgb): AccentShades {
  const onWhite = contrast(fill, "#ffffff") >= 4.5;
  return {
    fill,
    // Away from the text on it, so that hovering only ever raises the contrast.
    hover: format(mix(parse(fill), onWhite ? BLACK : WHITE, 0.14)),
    edge: readable(fill, surface, pole, 3),
    onFill: onWhite ? "#ffffff" : "#000000",
    accent: readable(fill, surface, pole, 5),
  };
}

/** The shades of an accent on the light and on the dark surface. `colour` is `#rrggbb`. */
export function accentShades(colour: string): { light: AccentShades; dark: AccentShades } {
  if (colour.toLowerCase() === DEFAULT_ACCENT) return OWN_SHADES;
  return { light: shades(colour, LIGHT_SURFACE, BLACK), dark: shades(colour, DARK_SURFACE, WHITE) };
}

/** Contrast ratios on one surface (WCAG 2.2), from 1 to 21. */
export type ContrastRatios = AccentShades & { buttonText: number; links: number; edges: number };

function measured(shade: AccentShades, surface: string): ContrastRatios {
  const { fill, onFill, accent, edge } = shade;
  return {
    ...shade,
    buttonText: contrast(onFill, fill),
    links: contrast(accent, surface),
    edges: contrast(edge, surface),
  };
}

/** `colour` is `#rrggbb`. */
export function measureContrast(colour: string): { light: ContrastRatios; dark: ContrastRatios } {
  const { light, dark } = accentShades(colour.toLowerCase());
  return { light: measured(light, LIGHT_SURFACE), dark: measured(dark, DARK_SURFACE) };
}

/** WCAG 2.2 AA: 4.5 for texts (1.4.3), 3 for the edges of controls (1.4.11), on light and on dark. */
export function isReadableAccent(colour: string): boolean {
  const { light, dark } = measureContrast(colour);
  return [light, dark].every(
    ({ buttonText, links, edges }) => buttonText >= 4.5 && links >= 4.5 && edges >= 3,
  );
}

function declarations(shade: AccentShades): string {
  return `--fill:${shade.fill};--fill-hover:${shade.hover};--edge:${shade.edge};--on-fill:${shade.onFill};--accent:${shade.accent}`;
}

/** For a page that previews an accent in both colour schemes. */
export function previewRules(colour: string): string {
  const { light, dark } = accentShades(colour.toLowerCase());
  return `.preview-light{${declarations(light)}}.preview-dark{${declarations(dark)}}`;
}

/** The style rules of an accent, for a style element with a nonce. `colour` is `#rrggbb`. */
export function accentRules(colour: string): string {
  const { light, dark } = accentShades(colour.toLowerCase());
  return `:root{${declarations(light)}}@media(prefers-color-scheme:dark){:root{${declarations(dark)}}}`;
}
