package console

import (
	"net/url"
	"slices"
	"strings"
)

// sorting is the order of the rows of a table. A request chooses it by the query parameter sort: the name of a column, with "-" before it
// for the descending order.
type sorting struct {
	Column     string
	Descending bool
	url        *url.URL
}

// sortedBy returns the order that a request asks for, and sorts the rows by it. columns compares rows by each column that the table can be
// sorted by, and byDefault is the order without a choice. Rows that compare equal are in the order of the column name.
func sortedBy[T any](u *url.URL, rows []T, byDefault string, columns map[string]func(a, b T) int) sorting {
	chosen := u.Query().Get("sort")
	if columns[strings.TrimPrefix(chosen, "-")] == nil {
		chosen = byDefault
	}
	s := sorting{url: u, Column: strings.TrimPrefix(chosen, "-"), Descending: strings.HasPrefix(chosen, "-")}
	compare, byName := columns[s.Column], columns["name"]
	slices.SortFunc(rows, func(a, b T) int { // a stable sort of all tools takes several times as long
		order := compare(a, b)
		if s.Descending {
			order = -order
		}
		if order == 0 {
			order = byName(a, b)
		}
		return order
	})
	return s
}

// by returns the URL of the first page of the table sorted by a column, in the opposite order if it is sorted by it already. first is the
// order of the first click, as in the query.
func (s sorting) by(first string) string {
	column, descending := strings.TrimPrefix(first, "-"), strings.HasPrefix(first, "-")
	if s.Column == column {
		descending = !s.Descending
	}
	if descending {
		column = "-" + column
	}
	return withQuery(s.url, "sort", column)
}

// direction returns the value of aria-sort for a column; "" if the table is not sorted by it.
func (s sorting) direction(first string) string {
	switch {
	case s.Column != strings.TrimPrefix(first, "-"):
		return ""
	case s.Descending:
		return "descending"
	}
	return "ascending"
}

// withQuery returns the URL of the first page of a table with another value of a query parameter; "" removes it.
func withQuery(u *url.URL, name, value string) string {
	q := u.Query()
	q.Del("page")
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	return (&url.URL{Path: u.Path, RawQuery: q.Encode()}).String()
}
