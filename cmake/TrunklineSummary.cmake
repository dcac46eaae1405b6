# TrunklineSummary
