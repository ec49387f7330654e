package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// directoryPlaceholder is the part of an issuer that each of its directories replaces, as the metadata of Entra ID has it.
const directoryPlaceholder = "{tenantid}"

// DirectoryID is the id of a directory of Entra ID, a UUID in lower case.
type DirectoryID string

var directoryID = regexp.MustCompile(`\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z`)

func (d *DirectoryID) parse(text string) error {
	switch {
	case directoryID.MatchString(text):
	case directoryID.MatchString(strings.ToLower(text)):
		return errors.New("must be in lower case, as tokens have it")
	default:
		return errors.New("must be the id of a directory, such as aaaabbbb-0000-cccc-1111-dddd2222eeee: tokens have no name of one")
	}
	*d = DirectoryID(text)
	return nil
}

// Identifiers returns the issuer identifiers: its own, or one for each directory.
func (is *Issuer) Identifiers() []string {
	if len(is.Directories) == 0 {
		return []string{is.Issuer.String()}
	}
	identifiers := make([]string, len(is.Directories))
	for i, d := range is.Directories {
		identifiers[i] = strings.Replace(is.Issuer.String(), directoryPlaceholder, string(d), 1)
	}
	return identifiers
}

// Identifiers returns the identifiers of all issuers, in their order.
func (a *Auth) Identifiers() (all []string) {
	for i := range a.Issuers {
		all = append(all, a.Issuers[i].Identifiers()...)
	}
	return all
}

// issuerPlaceholder finds what documentation writes in place of a value: {tenant}, <tenant> or *, which no token has.
var issuerPlaceholder = regexp.MustCompile(`\{[^{}/]*\}?|<[^<>/]*>?|\*|(?i:%7b[^/]*|%3c[^/]*)`)

// checkIssuer refuses an issuer with a placeholder: it is compared with iss exactly.
func checkIssuer(issuer string) error {
	if p := issuerPlaceholder.FindString(issuer); p != "" {
		return fmt.Errorf("has the placeholder %s, which no token has in iss; write the value that it stands for", quote(p))
	}
	return nil
}

// validateTemplate checks that an issuer is a template if it has directories, and else none.
func (is *Issuer) validateTemplate(c cursor) {
	issuer := is.Issuer.String()
	before, after, isTemplate := strings.Cut(issuer, directoryPlaceholder)
	switch {
	case c.given("directories") && !isTemplate:
		c.errorf("directories", "need %s in issuer, such as https://login.microsoftonline.com/%[1]s/v2.0", directoryPlaceholder)
	case c.given("directories") && is.Opaque():
		c.errorf("directories", "can't stand with opaque tokens, which the issuer is asked about")
	case c.given("directories"):
		c.check("issuer", checkIssuer(before+after))
	case isTemplate:
		c.errorf("issuer", "has the placeholder %s, which no token has in iss; list the ids of the directories in directories, or write the id of the one directory", quote(directoryPlaceholder))
	default:
		c.check("issuer", checkIssuer(issuer))
	}
}
