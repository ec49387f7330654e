// Package docs holds what the documentation says against the repository: links lead to files and headings that exist, every
// row of the table of OpenAPI support has a case, cases and the page of what users ask for name each other, the
// configurations that pages show can be loaded, and the blocks of the pages for new users can be parsed. [Blocks] reads the blocks of code of a
// page, also for the tests of commands. The one rule: a block that no test reads says why in its info string.
package docs
