// The documentation site: docs/.vitepress/build copies the pages of the repository, and VitePress renders them here.
import { defineConfig } from "vitepress";
import { linkedFiles, repositoryLinks } from "./links.mjs";
import { copyMarkdown, writeIndex } from "./markdown.mjs";
import { sidebar, topics } from "./navigation.mjs";
import { copyFiles } from "./files.mjs";

const base = process.env.DOCS_BASE || "/";

const title = "drawbridge";
const description = "An MCP gateway for REST services with OpenAPI documents";

export default defineConfig({
  title,
  description,
  lang: "en",
  base,
  outDir: process.env.DOCS_OUT,
  metaChunk: true,
  markdown: {
    html: false, // `<name>` in a text is text
    config: (md) => {
      repositoryLinks(md, { base, source: process.env.DOCS_SOURCE });
      for (const rule of ["text", "code_inline"]) { // so is `{{name}}`
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
      }
    },
  },
  themeConfig: {
    nav: topics,
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: "local" },
    externalLinkIcon: false,
  },
  vite: { build: { chunkSizeWarningLimit: 2000 } }, // the index of the search
  buildEnd({ outDir, pages }) {
    copyFiles(linkedFiles, outDir);
    copyMarkdown(pages, outDir);
    writeIndex(title, description, base, outDir);
  },
});
