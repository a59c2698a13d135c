// What makes reading easier where scripts run: theme, copying, local times, shortcuts. Nothing needs it.

const root = document.documentElement;
const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* the choice lasts for this page */ } },
};

// Theme: as the system has it, light, or dark.
const themes = ["system", "light", "dark"];
let theme = memory.get("vitrine-theme") ?? "system";
const toggle = document.querySelector("[data-theme-toggle]");
const applyTheme = () => {
  if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
  if (toggle) toggle.textContent = `Theme: ${theme}`;
};
if (toggle) {
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    memory.set("vitrine-theme", theme);
    applyTheme();
  });
}
applyTheme();

// Copying: a button beside what is to be copied.
const said = document.querySelector("[data-said]");
const say = (text) => { if (said) said.textContent = text; };
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      say("Copied");
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } catch { say("Copying is not allowed here"); }
  });
}

// Times: in UTC on the page; how long ago, and this machine's own, as a hint.
const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  const seconds = (moment - Date.now()) / 1000;
  const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  if (!Number.isNaN(seconds)) time.title = `${relative.format(Math.round(seconds / size), unit)} · here ${moment.toLocaleString()}`;
}

// Choices that take effect at once; without scripts their form has a button.
for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// A page that shows work in progress asks again, unless somebody stops it or looks elsewhere.
const live = document.querySelector("[data-refresh]");
if (live) {
  const pause = live.querySelector("button");
  let paused = false;
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Refresh again" : "Pause";
    pause.setAttribute("aria-pressed", String(paused));
  });
  setInterval(() => {
    const busy = document.activeElement?.closest("form, details");
    if (!paused && !document.hidden && !busy) location.reload();
  }, Number(live.dataset.refresh) * 1000);
}

// Shortcuts, off while somebody types, and for whoever does not want them.
const go = { o: "/", s: "/search", c: "/changes", j: "/admin/jobs", r: "/admin/retention" };
const switched = document.querySelector("[data-shortcuts]");
let shortcuts = memory.get("vitrine-shortcuts") !== "off";
if (switched) {
  switched.closest("label").hidden = false;
  switched.checked = shortcuts;
  switched.addEventListener("change", () => {
    shortcuts = switched.checked;
    memory.set("vitrine-shortcuts", shortcuts ? "on" : "off");
  });
}
const follow = (selector) => document.querySelector(selector)?.click();
let step = -1;
const jump = (by) => {
  const changes = [...document.querySelectorAll("[data-change]")];
  if (!changes.length) return;
  step = Math.min(Math.max(step + by, 0), changes.length - 1);
  changes[step].scrollIntoView({ block: "center" });
  changes[step].focus({ preventScroll: true });
};
const keys = {
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": () => { location.href = "/-/keyboard"; },
  ArrowLeft: () => follow("a[rel=prev]"),
  ArrowRight: () => follow("a[rel=next]"),
  n: () => jump(1),
  p: () => jump(-1),
};
let chord = false;
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (!shortcuts || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = chord && go[event.key];
  chord = event.key === "g";
  const act = place ? () => { location.href = place; } : keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
