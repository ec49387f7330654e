import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { inPages } from "./files.mjs";
import { users } from "./navigation.mjs";

/** The path of a page's Markdown on the site: that of the repository, so that links between the files lead to each other. */
export const markdownOf = (page) => page.replace(/(^|\/)index\.md$/, "$1README.md");

/** Copies the Markdown of each page to the site. */
export function copyMarkdown(pages, target) {
  for (const page of pages) {
    const file = join(target, markdownOf(page));
    mkdirSync(dirname(file), { recursive: true });
    cpSync(inPages(page), file);
  }
}

/** Writes llms.txt (https://llmstxt.org): the index of the pages for users, with links to their Markdown. */
export function writeIndex(title, description, base, target) {
  const sections = users.map(({ text, items }) =>
    [`## ${text}`, "", ...items.map(({ text, link, about }) => `- [${text}](${posix.join(base, markdownOf(link))})${about ? `: ${about}` : ""}`)].join("\n"));
  writeFileSync(join(target, "llms.txt"), [`# ${title}`, `> ${description}`, ...sections].join("\n\n") + "\n");
}
