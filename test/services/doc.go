// Package services makes calls of services whose logins are their own (make services-e2e): Node-RED, which gives tokens for a form with a
// password, and Apache httpd with mod_auth_digest. Both are as they are published.
package services
