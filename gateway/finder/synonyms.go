package finder

import "strings"

// synonyms are groups of words that people use for the same thing of an API, one group a line. A word of a query also
// finds the others of its groups, with less weight. They are of everyday speech and of software in general, and of no
// API: words of one API belong into an overlay.
const synonyms = `
app application
auth authentication login signin
avatar photo picture image
balance money
bill invoice
bug issue ticket
buy purchase order
card payment
channel conversation room
chat message conversation
client customer
comment reply note
company organization business
coupon discount promotion voucher
creator author owner
db database
dir directory folder
doc document
dns domain record
email mail
employee staff worker user
env environment
error failure exception
event activity
fee charge
film movie
function lambda
group team
history log event
host server machine node
info information detail
job task run
key token credential
kind type category
k8s kubernetes
label tag
link url
location place address
lock freeze
log output
machine server node host instance
member user participant
money payment amount
msg message
org organization
pause suspend stop
payout transfer
permission role access right
permission grant
person user member people
phone telephone
photo picture image
pr pull
price cost rate
profile account
project repository
quota limit usage
refund repay reimburse
repo repository
reply answer respond
rule policy
schedule calendar cron
secret password credential
settings configuration preferences options config
song track
spec specification
stats statistics analytics metrics
status state
subscribe follow
talk message
test check
ticket issue request case
todo task
user account member
version release
vm instance server droplet machine
volume disk storage
vulnerability advisory alert
website site domain
webhook hook callback
`

// synonymsOf maps the stem of an English word to the stems of its synonyms.
var synonymsOf = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(synonyms) {
		group := strings.Fields(line)
		for i, word := range group {
			stem := languages[0].reduce(word)
			for j, other := range group {
				if s := languages[0].reduce(other); i != j && s != stem {
					all[stem] = append(all[stem], s)
				}
			}
		}
	}
	return all
}()
