# TrunklineInstall
