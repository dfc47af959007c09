# espalier_torch: Debian's LibTorch, or the one in ESPALIER_TORCH_DIR: a LibTorch that was unpacked there, or the folder `torch` of an
# installed PyTorch. Its own CMake package is not used: that of PyTorch mixes in Debian's libc10 when both are there.
set(ESPALIER_TORCH_DIR "" CACHE PATH "LibTorch to use instead of the system's")
set(torch_search)
if(ESPALIER_TORCH_DIR)
  set(torch_search PATHS ${ESPALIER_TORCH_DIR} NO_DEFAULT_PATH)
endif()
find_path(ESPALIER_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h PATH_SUFFIXES include REQUIRED ${torch_search})
add_library(espalier_torch INTERFACE)
target_include_directories(espalier_torch SYSTEM INTERFACE
  ${ESPALIER_TORCH_INCLUDE} ${ESPALIER_TORCH_INCLUDE}/torch/csrc/api/include)
foreach(name torch torch_cpu c10)
  find_library(ESPALIER_LIB_${name} ${name} PATH_SUFFIXES lib REQUIRED ${torch_search})
  target_link_libraries(espalier_torch INTERFACE ${ESPALIER_LIB_${name}})
endforeach()
target_link_libraries(espalier_torch INTERFACE ${CMAKE_DL_LIBS})
# Where LibTorch has CUDA, a library that nothing names in the code brings its kernels.
find_library(ESPALIER_LIB_torch_cuda torch_cuda PATH_SUFFIXES lib ${torch_search})
if(ESPALIER_LIB_torch_cuda)
  target_link_libraries(espalier_torch INTERFACE -Wl,--push-state,--no-as-needed,${ESPALIER_LIB_torch_cuda},--pop-state)
endif()
if(ESPALIER_TORCH_DIR)
  # What an installed PyTorch's libraries need in turn lies in folders that only they know.
  target_link_options(espalier_torch INTERFACE LINKER:--allow-shlib-undefined)
else()
  # Debian's LibTorch logs through glog, in its headers too.
  find_library(ESPALIER_LIB_glog glog REQUIRED)
  target_link_libraries(espalier_torch INTERFACE ${ESPALIER_LIB_glog})
endif()
