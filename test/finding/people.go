package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// requests has requests of people to peopleDocuments, in the form of queries.jsonl.
//
//go:embed testdata/people.jsonl
var requests string

// unanswered has requests that no API of peopleDocuments answers, one a line.
//
//go:embed testdata/unanswerable-people.txt
var unanswered string

// peopleDocuments are the documents that the requests of people are about, by the names of their APIs.
var peopleDocuments = append([]served{
	{"box", "box-openapi--openapi.json"},
	{"mastodon", "mastodon-openapi--schema.json"},
	{"keycloak", "keycloak-openapi--keycloak-23.0.0.json"},
	{"sonarr", "sonarr--openapi.json"},
	{"bitly", "bitlyip--apiDefinition.swagger.json"},
	{"docusign", "openapi-specifications--esignature.rest.swagger-v2.json"},
	{"strava", "strava.com-main--Strava.yaml"},
	{"lob", "lob-openapi--lob-api-public/lob-api-public.yml"},
	{"peertube", "cpy.re-peertube--openapi.yaml"},
	{"openai", "openai-openapi--openapi.yaml"},
	{"weather", "api--openapi.yaml"},
	{"asana", "../finding/documents/asana.com--06ca99.json"},
	{"xero", "../finding/documents/xero.com--4eb822.json"},
	{"tmdb", "../finding/documents/tmdb.json"},
	{"vercel", "../finding/documents/vercel.com--4f4e3f.json"},
	{"plaid", "../finding/documents/plaid.com--3a0999.json"},
}, acrossDocuments...)

// runPeople asks the requests of people.
func runPeople(specs string, o options, v *vectors) error {
	var queries []query
	for line := range strings.Lines(requests) {
		var q query
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return fmt.Errorf("people.jsonl: %w", err)
		}
		queries = append(queries, q)
	}
	return askTogether(specs, peopleDocuments, append(queries, unanswerable("unanswerable", unanswered)...), o, v)
}
