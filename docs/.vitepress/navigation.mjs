import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { inPages, pageOf } from "./files.mjs";

const entry = /^[-|] \[([^\]]+)\]\(([^)]+\.md)\)(?:: (.+))?/gm;

/** The pages that rows and list items of an index begin with, with what a list item says about its page. */
function entries(index, text) {
  return [...text.matchAll(entry)].map(([, text, path, about]) => ({ text, link: "/" + pageOf(posix.join(posix.dirname(index), path)), about }));
}

const read = (page) => readFileSync(inPages(pageOf(page)), "utf8");

/** The pages that an index lists under each of its second-level headings. */
function parts(index) {
  const [, ...sections] = read(index).split(/^## /m);
  return sections.map((section) => ({ text: section.slice(0, section.indexOf("\n")), items: entries(index, section) }));
}

/** The decision records, by their titles. */
function decisions(folder) {
  const items = readdirSync(inPages(folder)).sort().map((file) => ({
    text: read(posix.join(folder, file)).match(/^# (.+)$/m)[1],
    link: `/${folder}/${file}`,
  }));
  return { text: "Decisions", collapsed: true, items };
}

/** The parts of the index for users. */
export const users = parts("docs/README.md");
const background = "docs/contributing/README.md";

/** The parts of the index for users, then the pages for contributors. */
export const sidebar = [
  ...users.map((part) => ({ ...part, collapsed: false })),
  { text: "Contributing", collapsed: true, items: [...entries(background, read(background)), decisions("docs/contributing/adr")] },
];

/** The bar at the top: the first page of each part. */
export const topics = users.map(({ text, items }) => ({ text, link: items[0].link }));
