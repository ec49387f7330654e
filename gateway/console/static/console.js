// What pages offer beyond HTML: buttons that copy, and the history of tries in this tab. Pages work without it.
"use strict";

// Each preformatted text and JSON tree gets a button that copies it, also those that htmx adds.
function addCopyButtons(root) {
  for (const pre of root.querySelectorAll("pre, [data-copy]")) {
    if (pre.dataset.copied !== undefined || pre.closest("form")) continue;
    pre.dataset.copied = "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre); // without HTTPS there is no clipboard: the text is marked instead
        button.textContent = "Marked: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    pre.before(button);
  }
}

// The last tries are kept for this tab alone, and end with the session.
const triesKey = "drawbridge-tries", maxTries = 20;

function tries() {
  try {
    return JSON.parse(sessionStorage.getItem(triesKey)) ?? [];
  } catch {
    return [];
  }
}

function keepTry(done) {
  const entry = { tool: done.dataset.tool, arguments: done.dataset.arguments, outcome: done.dataset.outcome, time: new Date().toLocaleTimeString() };
  sessionStorage.setItem(triesKey, JSON.stringify([entry, ...tries()].slice(0, maxTries)));
}

function showTries(section) {
  const all = tries();
  if (all.length === 0) return;
  const list = section.querySelector("ol");
  for (const [i, t] of all.entries()) {
    const link = document.createElement("a");
    link.href = `/console/try/${encodeURIComponent(t.tool)}#try-${i}`;
    link.textContent = t.tool;
    const item = document.createElement("li");
    item.append(link, ` ${t.time} ${t.outcome} `, Object.assign(document.createElement("code"), { textContent: t.arguments.slice(0, 120) }));
    list.append(item);
  }
  section.hidden = false;
}

// A link to a try fills in its arguments, which are in no URL.
function repeatTry() {
  const entry = tries()[/^#try-(\d+)$/.exec(location.hash)?.[1]];
  const field = document.getElementById("arguments");
  if (!entry || !field || location.pathname !== `/console/try/${encodeURIComponent(entry.tool)}`) return;
  field.value = entry.arguments;
  field.focus();
}

document.addEventListener("DOMContentLoaded", () => {
  addCopyButtons(document);
  if (!document.querySelector("form.who")) sessionStorage.removeItem(triesKey); // nobody is signed in
  const done = document.getElementById("this-try");
  if (done) keepTry(done);
  const section = document.getElementById("tries");
  if (section) showTries(section);
  repeatTry();
  window.addEventListener("hashchange", repeatTry);
  document.body.addEventListener("htmx:afterSettle", (event) => addCopyButtons(event.target));
});
