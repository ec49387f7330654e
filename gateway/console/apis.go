package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
)

// operationsPerPage is the number of operations on a page of a load report.
const operationsPerPage = 100

// apisData is what the list of APIs shows.
type apisData struct {
	APIs     []apiRow
	Services []discovery.ServiceStatus // that are no APIs, and why
}

// apiRow is an API with where it came from.
type apiRow struct {
	admin.API
	Origin string
}

func (c *Console) apis(w http.ResponseWriter, r *http.Request) {
	s := c.o.Gateway.Status()
	d := apisData{APIs: make([]apiRow, len(s.APIs))}
	for i := range s.APIs {
		d.APIs[i] = apiRow{API: s.APIs[i], Origin: originOf(&s.APIs[i])}
	}
	if s.Discovery != nil {
		for _, service := range s.Discovery.Services {
			if service.State != discovery.Served || len(service.Warnings) > 0 {
				d.Services = append(d.Services, service)
			}
		}
	}
	c.render(w, r, d)
}

// originOf says where an API came from.
func originOf(a *admin.API) string {
	if a.Service == nil {
		return "the configuration"
	}
	return a.Service.Provider + ": " + strings.TrimPrefix(a.Service.Namespace+"/"+a.Service.Name, "/")
}

// apiData is what the page of an API shows: its state, and a page of its load report.
type apiData struct {
	API        admin.API
	Origin     string
	Problems   []admin.Problem
	Overlays   []admin.OverlayAction
	Operations []operationRow
	Fate       admin.Fate // of the operations that are shown; "" for all
	Query      string     // in the method, path, id, tool or notes of those that are shown; "" for all
	Fates      []fateCount
	Pages      pageLinks
}

// fateCount is a filter of operations by their fate.
type fateCount struct {
	Fate  admin.Fate
	Count int
}

// operationRow is an operation with the texts of its problems.
type operationRow struct {
	admin.Operation
	Notes []string
}

// contains reports whether a text occurs in what the row shows, in any case of letters.
func (o *operationRow) contains(text string) bool {
	if text == "" {
		return true
	}
	shown := append([]string{o.Method + " " + o.Path, o.ID, o.Tool}, o.Notes...)
	text = strings.ToLower(text)
	return slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// pageLinks are the links to the pages before and after.
type pageLinks struct {
	Before, After string // URLs; "" if there is none
	First, Last   int    // of the rows that are shown, from 1
	Of            int
}

// paged returns the bounds of the page that a request asks for, and the links to its neighbours.
func paged(u *url.URL, total, size int) (from, to int, links pageLinks) {
	page, _ := strconv.Atoi(u.Query().Get("page"))
	page = max(1, min(page, (total+size-1)/size)) // one page at least, though it may be empty
	from = (page - 1) * size
	to = min(from+size, total)
	at := func(n int) string {
		q := u.Query()
		q.Set("page", strconv.Itoa(n))
		return (&url.URL{Path: u.Path, RawQuery: q.Encode()}).String()
	}
	links = pageLinks{First: from + 1, Last: to, Of: total}
	if page > 1 {
		links.Before = at(page - 1)
	}
	if to < total {
		links.After = at(page + 1)
	}
	return from, to, links
}

func (c *Console) api(w http.ResponseWriter, r *http.Request) {
	report, ok := c.o.Gateway.Report(r.PathValue("name"))
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no API of that name.")
		return
	}
	d := apiData{API: report.API, Origin: originOf(&report.API), Problems: report.Problems, Overlays: report.Overlays}
	for _, f := range []admin.Fate{admin.Exposed, admin.Changed, admin.Excluded, admin.HeldBack, admin.Skipped} {
		if n := report.API.Operations.Of(f); n > 0 {
			d.Fates = append(d.Fates, fateCount{f, n})
		}
	}
	operations := report.Operations
	if f := admin.Fate(r.URL.Query().Get("fate")); f != "" {
		d.Fate = f
		operations = slices.DeleteFunc(slices.Clone(operations), func(o admin.Operation) bool { return o.Fate != f })
	}
	var rows []operationRow
	d.Query = strings.TrimSpace(r.URL.Query().Get("q"))
	for _, o := range operations {
		if row := (operationRow{o, notesOf(&report, &o)}); row.contains(d.Query) {
			rows = append(rows, row)
		}
	}
	from, to, links := paged(r.URL, len(rows), operationsPerPage)
	d.Pages, d.Operations = links, rows[from:to]
	if len(d.Problems) > operationsPerPage {
		d.Problems = d.Problems[:operationsPerPage]
	}
	c.render(w, r, d)
}

// notesOf returns why an operation has its fate, and what was repaired in it.
func notesOf(report *admin.Report, o *admin.Operation) (notes []string) {
	for _, reason := range o.Reasons {
		notes = append(notes, reason.Message)
	}
	for _, i := range o.Problems {
		notes = append(notes, report.Problems[i].Message)
	}
	if o.Uncallable != "" {
		notes = append(notes, "calls fail: "+o.Uncallable)
	}
	return notes
}

// Excerpt is a part of a document.
type Excerpt struct {
	File  string
	First int // the number of the first of Lines, from 1
	Lines []string
}

// documentData is what the page of a document's text shows.
type documentData struct {
	API, File string
	Line      int // the one that was asked for
	Lines     []line
}

// line is a line of a document.
type line struct {
	Number int
	Text   string
	Marked bool
}

// document serves the text of a document around a position of the load report.
func (c *Console) document(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("line"))
	if err != nil || number < 1 {
		c.fail(w, r, http.StatusBadRequest, "The address must name a line of the document.")
		return
	}
	name := r.PathValue("name")
	column, _ := strconv.Atoi(q.Get("column")) // a position without one is at the beginning of its line
	e, err := c.o.Gateway.DocumentText(r.Context(), name, q.Get("file"), number, column)
	if err != nil {
		c.fail(w, r, http.StatusNotFound, "The text of this document can't be shown: "+err.Error()+".")
		return
	}
	lines := make([]line, len(e.Lines))
	for i, text := range e.Lines {
		lines[i] = line{e.First + i, text, e.First+i == number}
	}
	c.render(w, r, documentData{API: name, File: e.File, Line: number, Lines: lines})
}

// accept puts a held document into use, or serves a held service.
func (c *Console) accept(w http.ResponseWriter, r *http.Request) {
	name, digest := r.PathValue("name"), r.PostFormValue("digest")
	if _, known := c.o.Gateway.Report(name); known && digest == "" {
		c.fail(w, r, http.StatusBadRequest, "The form must name the document that is accepted. Load the page again.")
		return
	}
	c.act(w, r, doneAccept, name, c.o.Gateway.Accept(r.Context(), name, digest))
}

// acceptLoss removes the services that a provider has lost.
func (c *Console) acceptLoss(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	c.act(w, r, doneLoss, name, c.o.Gateway.AcceptLoss(r.Context(), name))
}

// reload reads the configuration and all documents again.
func (c *Console) reload(w http.ResponseWriter, r *http.Request) {
	c.act(w, r, doneReload, "", c.o.Gateway.Reload(r.Context()))
}

// done is what an operator has done, as the overview says it afterwards.
type done string

const (
	doneAccept done = "accept"
	doneLoss   done = "loss"
	doneReload done = "reload"
)

// String returns a sentence; "" for any other value, which a link of somebody else may have.
func (d done) String() string {
	switch d {
	case doneAccept:
		return "What was held is accepted."
	case doneLoss:
		return "The lost services are removed."
	case doneReload:
		return "The configuration and all documents were read again."
	}
	return ""
}

// act logs what an operator has done, and goes to the overview, which says what became of it.
func (c *Console) act(w http.ResponseWriter, r *http.Request, what done, to string, err error) {
	admin.ExtendDeadline(w)
	who := c.session(r).Name
	if err != nil {
		c.o.Log.Warn("an operator's action failed", "action", string(what), "of", to, "name", who, "error", err)
		d := c.overviewData()
		d.Failed = err.Error()
		c.renderStatus(w, r, http.StatusUnprocessableEntity, d)
		return
	}
	c.o.Log.Info("an operator changed what is served", "action", string(what), "of", to, "name", who)
	http.Redirect(w, r, "/console?done="+string(what), http.StatusSeeOther)
}
