// Says times in the reader's zone: how long ago, with the exact time on hover; of days, only the date.
const { lang } = document.documentElement;
const locale = lang === "en" ? "en-GB" : lang;
const exact = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const toTheSecond = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
const STEPS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const WEEK_S = 7 * 86_400;

const wordsFor = (time) => {
  const seconds = (time - Date.now()) / 1_000;
  if (Math.abs(seconds) > WEEK_S) return undefined;
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? ["second", 60];
  return unit === "second" ? relative.format(0, "second") : relative.format(Math.trunc(seconds / size), unit);
};

// The text of the node that is there, as a node made anew has the browser look for every rule that depends on what contains it.
const say = (element, words) => {
  if (element.firstChild) element.firstChild.data = words;
  else element.textContent = words;
};

const update = (root) => {
  for (const element of root.querySelectorAll("time[data-relative]")) {
    const time = new Date(element.dateTime);
    element.title = toTheSecond.format(time);
    say(element, wordsFor(time) ?? exact.format(time));
  }
  for (const element of root.querySelectorAll("time[data-exact]"))
    say(element, toTheSecond.format(new Date(element.dateTime)));
  for (const element of root.querySelectorAll("time[data-day]")) {
    const time = new Date(element.dateTime);
    element.title = toTheSecond.format(time);
    say(element, day.format(time));
  }
};

update(document);
document.addEventListener("signet:updated", ({ target }) => update(target));
setInterval(() => {
  if (!document.hidden) update(document);
}, 60_000);

// Days are typed in the reader's zone, which the form names.
for (const field of document.querySelectorAll("input[data-zone]")) {
  field.value = exact.resolvedOptions().timeZone;
  for (const { firstChild } of field.form.querySelectorAll("label"))
    firstChild.data = firstChild.data.replace("(UTC)", `(${field.value})`);
}
