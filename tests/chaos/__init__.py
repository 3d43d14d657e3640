"""Random faults and kills against real processes, judged by what stands in the workspace."""
