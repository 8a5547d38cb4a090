// The console works without this file. It adds: search as one types, keys to move with, forms that send themselves, and
// times in the time zone of this browser, which the server learns from a cookie.
"use strict";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `recollectum_zone=${zone}; path=/; max-age=31536000; samesite=strict${secure}`;
}

const PAUSE = 120;

function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function rows() {
  return [...document.querySelectorAll("[data-row]")];
}

function move(step) {
  const all = rows();
  const now = all.findIndex((row) => row.classList.contains("here"));
  const next = all[Math.min(Math.max(now + step, 0), all.length - 1)];
  if (!next) return;
  all.forEach((row) => row.classList.toggle("here", row === next));
  const target = next.querySelector("a[href]") || next;
  target.focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (typing(event.target)) return;
  if (event.key === "/") {
    event.preventDefault();
    const field = document.querySelector("[data-focus]");
    if (field) field.focus();
    else location.assign("/");
  }
  if (event.key === "j") move(1);
  if (event.key === "k") move(-1);
});

for (const form of document.querySelectorAll("form[data-live]")) {
  const place = document.querySelector(form.dataset.live);
  const before = [...place.childNodes];
  const began = new FormData(form).get("q");
  let waiting = 0;
  let asking = new AbortController();

  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    const query = fields.get("q").trim();
    history.replaceState(null, "", query ? `/?${fields}` : "/");
    if (!query) {
      if (began) location.assign("/");
      else place.replaceChildren(...before);
      return;
    }
    fields.set("part", "hits");
    try {
      const answer = await fetch(`/?${fields}`, { signal: asking.signal, credentials: "same-origin" });
      if (answer.status === 401) location.reload();
      if (!answer.ok) return;
      const made = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceChildren(...made.body.childNodes);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, PAUSE);
  });
}

for (const form of document.querySelectorAll("form.bulk")) {
  const boxes = [...form.querySelectorAll("input[name=id]")];
  const whole = Object.assign(document.createElement("input"), { type: "checkbox" });
  const label = Object.assign(document.createElement("label"), { className: "pick" });
  label.append(whole, " this page");
  form.querySelector("input[name=all]").closest("label").before(label);
  whole.addEventListener("change", () => boxes.forEach((box) => { box.checked = whole.checked; }));
}

for (const field of document.querySelectorAll("select[data-send]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

for (const form of document.querySelectorAll("form[data-auto]")) form.requestSubmit();
