// Package docs holds what the documentation says against the repository: links lead to files and headings that exist, every
// row of the table of OpenAPI support has a case, and cases and the page of what users ask for name each other.
package docs
