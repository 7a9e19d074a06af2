module signet.example/interop-kubelogin

go 1.21

require github.com/int128/kubelogin v1.28.0
