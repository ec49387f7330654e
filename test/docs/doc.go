// Package docs holds what the documentation says against the repository: links lead to files and headings that exist, every
// row of the table of OpenAPI support has a case, cases and the page of what users ask for name each other, and the
// configurations that the page on tokens shows can be loaded.
package docs
