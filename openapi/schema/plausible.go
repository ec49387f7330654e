package schema

import "drawbridge/openapi/text"

// plausible returns a text such as may stand in a property of that name, by its last word that says something. The name itself would
// teach nothing: a model has read it.
func plausible(name string) string {
	words := text.NameWords(name)
	for i := len(words) - 1; i >= 0; i-- {
		if example := plausibleTexts[words[i]]; example != "" {
			return example
		}
	}
	return "example"
}

// plausibleTexts are examples by a word of a name. None is a real person, host or number: the domains and addresses are those that RFC 2606
// and RFC 5737 keep for examples.
var plausibleTexts = map[string]string{
	"id": "1001", "ids": "1001", "uid": "1001", "no": "1001", "nr": "1001", "num": "1001", "number": "1001", "ref": "R-1001", "reference": "R-1001",
	"uuid": "123e4567-e89b-12d3-a456-426614174000", "guid": "123e4567-e89b-12d3-a456-426614174000",
	"code": "A1", "sku": "A-1001", "key": "k1", "tag": "blue", "label": "blue", "color": "blue", "colour": "blue",
	"name": "Ada", "owner": "ada", "user": "ada", "username": "ada", "login": "ada", "author": "ada", "assignee": "ada", "customer": "ada", "firstname": "Ada", "lastname": "Byron",
	"email": "user@example.com", "mail": "user@example.com", "phone": "+12025550100", "tel": "+12025550100",
	"url": "https://example.com/", "uri": "https://example.com/", "href": "https://example.com/", "link": "https://example.com/", "website": "https://example.com/",
	"host": "example.com", "hostname": "example.com", "domain": "example.com", "ip": "192.0.2.1",
	"date": "2026-01-31", "day": "2026-01-31", "birthday": "2000-01-31", "since": "2026-01-31", "until": "2026-01-31",
	"time": "12:00:00", "at": "2026-01-31T12:00:00Z", "timestamp": "2026-01-31T12:00:00Z", "month": "2026-01", "year": "2026", "timezone": "UTC",
	"street": "1 High Street", "address": "1 High Street", "city": "Paris", "country": "FR", "zip": "75001", "postcode": "75001", "region": "north", "language": "en", "lang": "en", "locale": "en",
	"currency": "EUR", "amount": "12.50", "price": "12.50", "total": "12.50", "iban": "GB00EXAM00000000000000",
	"title": "A short title", "subject": "A short title", "summary": "A short text", "description": "A short text", "note": "A short text", "comment": "A short text", "message": "A short text",
	"text": "A short text", "body": "A short text", "content": "A short text", "reason": "A short text",
	"query": "blue", "q": "blue", "search": "blue", "filter": "blue", "term": "blue", "keyword": "blue",
	"file": "notes.txt", "filename": "notes.txt", "path": "notes.txt", "folder": "notes", "directory": "notes",
	"media": "text/plain", "mime": "text/plain", "version": "1.0", "branch": "main", "repo": "project", "repository": "project", "project": "project", "sort": "name", "cursor": "next",
}
