package catalog

import "testing"

// TestCaution: a sentence that a caller must know and the first one hides; sentences of real documents that say nothing of the call are left out.
func TestCaution(t *testing.T) {
	for description, want := range map[string]string{
		"Get a message. The message is also marked as read.":                                                     "The message is also marked as read",
		"Delete messages. If no IDs are given, all messages are deleted.":                                        "If no IDs are given, all messages are deleted",
		"Delete a customer. Also immediately cancels any active subscriptions.":                                  "Also immediately cancels any active subscriptions",
		"Set the tags. The supplied set of tags replaces the existing tags.":                                     "The supplied set of tags replaces the existing tags",
		"Set the topics. Replaces all topics of the repository.":                                                 "Replaces all topics of the repository",
		"Permanently deletes a domain. This endpoint allows to permanently delete a domain.":                     "",
		"Creates a new sign-in or replaces the current one. Creates or replaces the current sign-in.":            "",
		"Delete an archive. Archives are automatically deleted after seven days.":                                "",
		"Create a coupon. Creation is also accessible via the API, to create coupons on the fly.":                "",
		"Remove a label. This endpoint returns a 404 status if the label is not present on the runner.":          "",
		"Absorption ratio. Mark Kritzman, Yuanzhen Li, Principal Components as a Measure of Systemic Risk.":      "",
		"List accounts. If you are not a platform, the list is empty.":                                           "",
		"Retrieve credentials. If the time is not set or…":                                                       "",
		"Create a client. If not provided:":                                                                      "",
		"Remove members. If you manage members in your identity provider, they are automatically created again.": "",
	} {
		if got := NewTool(Definition{Name: "t", Title: "t", Description: description, Input: []byte(`{"type":"object"}`)}).Caution(); got != want {
			t.Errorf("%s\ngot  %q\nwant %q", description, got, want)
		}
	}
}
