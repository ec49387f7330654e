import { cpSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const pages = fileURLToPath(new URL("..", import.meta.url));

/** The file of a page, which is named after its folder if it is that folder's README; undefined if the path is no page. */
export function pageOf(path) {
  const page = path.replace(/(^|\/)README\.md$/, "$1index.md");
  if (page.endsWith(".md")) return existsSync(join(pages, page)) ? page : undefined;
  const index = join(page, "index.md");
  return existsSync(join(pages, index)) ? index : undefined;
}

/** Whether the path is a file that the site can serve beside its pages. */
export function isFile(path) {
  return statSync(join(pages, path), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Copies files of the repository to the same paths of the site. */
export function copyFiles(paths, target) {
  for (const path of paths) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(pages, path), join(target, path));
  }
}

/** The absolute path of a page or a folder of pages. */
export const inPages = (path) => join(pages, path);
