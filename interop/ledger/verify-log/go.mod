module signet.example/verify-log

go 1.19

require golang.org/x/mod v0.8.0
