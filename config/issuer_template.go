package config

import (
	"errors"
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
