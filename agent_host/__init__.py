"""The one program of the lab that runs beside an agent; standard library only."""
