package paths

// payloads are values of an argument that try to leave their place in a URL or a header.
var payloads = []string{
	// Segments that mean another folder, plain, encoded once, twice and more, in the spellings of several servers.
	"..", ".", "../admin", "../../admin", "../../../../etc/passwd", "..%2fadmin", "%2e%2e", "%2e%2e/admin", "%2e%2e%2fadmin", ".%2e",
	"%2e.", "%252e%252e", "%252e%252e%252fadmin", "%25252e%25252e", "..%252fadmin", "..%c0%afadmin", "%c0%ae%c0%ae/admin", "%uff0e%uff0e/admin", "..%u2216admin",
	"..\\admin", "..%5cadmin", "..%255cadmin", "\\..\\admin", "..;/admin", "..;x=y/admin", "..%3b/admin", ";/../admin", "1;/../../admin", ".;a",
	"....//admin", "..././admin", ".../admin", "．．/admin", "‥/admin", "..／admin", "．．",
	// Another route, host or scheme.
	"/admin", "//admin", "//evil.example/admin", "http://evil.example/", "1/refund", "1%2frefund", "1%252frefund", "1/restore", "1%2frestore", "a/1/RESTORE", "a/b.txt", "a%2Fb.txt", "@evil.example", ":80/admin",
	// The rest of a URL.
	"1?admin=1", "1#admin", "1%3fadmin=1", "1%23admin", "1&q=2", "q=1;q=2", "1 HTTP/1.1", "a+b", "100%", "%", "%zz", "%00", "1%00.json",
	// Control characters and other requests.
	"1\x00", "1\r\nX-Admin: 1", "1\nGET /admin HTTP/1.1", "1%0d%0aX-Admin:%201", "\x7f", "\t..", "\u202e..", "\ufeff..",
	// Templates and what is no text.
	"{id}", "${id}", "{{id}}", "", " ", "ä ö/ü", "日本語",
}
